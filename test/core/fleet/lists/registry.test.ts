import * as v from 'valibot';
import { text } from '#src/core/fleet/lists/field-types.ts';
import { recordKind } from '#src/core/fleet/lists/record.ts';
import { lists, recordKinds, resources } from '#src/core/fleet/lists/registry.ts';
import type { IngestOutcome } from '#src/core/ingest/schema.ts';
import { clientDocument } from '#src/docs/openapi/client.ts';
import { type Item, listPage } from '#test/support/fleet.ts';
import { as, rows, world, worldBefore } from '#test/support.ts';

/** Whatever is declared in `fleet/`, by its file. */
const declared = Object.entries(
  import.meta.glob<object>('../../../../src/core/fleet/lists/*.ts', { eager: true }),
).flatMap(([file, exports]) =>
  Object.values(exports)
    .filter(
      (value) =>
        typeof value === 'object' && value !== null && ('record' in value || 'list' in value),
    )
    .map((resource) => ({ file: file.split('/').at(-1) ?? '', resource })),
);

it.each(declared)('what $file declares is registered', ({ resource }) => {
  expect(resources).toContain(resource);
});

it('no field of a record is called what records, rows and pages have already', () => {
  // @ts-expect-error: a record's own `kind` says what it is
  recordKind({ kind: 'depot', sourceId: 'd', fields: { kind: text(20, 'Its kind.', 'large') } });
  // @ts-expect-error: pages add up the sizes of their rows
  recordKind({ kind: 'depot', sourceId: 'd', fields: { size: text(20, 'Its size.', 'large') } });
  recordKind({ kind: 'depot', sourceId: 'd', fields: { form: text(20, 'Its form.', 'large') } });
});

it.each(recordKinds.map((resource) => [resource.kind, resource] as const))(
  'the example of a %s record is one',
  (_, { record, recordExample }) => {
    expect(v.safeParse(record, recordExample).issues).toBeUndefined();
  },
);

const us = worldBefore(beforeAll);
let taken: IngestOutcome;
beforeAll(async () => {
  const examples = recordKinds.map(({ recordExample }) => recordExample);
  const others = examples.flatMap((example) =>
    [2, 3].map((number) => ({ ...example, sourceId: `${example.sourceId}-${number}` })),
  );
  taken = (await us.send(...examples, ...others)).data;
  for (const table of ['connections', 'vehicles'])
    await rows(`update ${table} set external_id = id`);
});

it('a record of every kind is taken in, and known when it comes again', async () => {
  expect(taken).toMatchObject({ accepted: 3 * recordKinds.length, unchanged: 0, rejected: [] });
  const examples = recordKinds.map(({ recordExample }) => recordExample);
  const again = await us.send(...examples);
  expect(again.data).toEqual({ accepted: 0, unchanged: recordKinds.length, rejected: [] });
});

type Parameter = { name: string; schema: Schema };
type Schema = {
  type?: string;
  format?: string;
  enum?: unknown[];
  maximum?: number;
  items?: Schema;
};
const { paths } = clientDocument() as {
  paths: Record<string, { get?: { parameters: Parameter[] } }>; // as OpenAPI has it
};

describe.each(lists.map((resource) => [resource.list.path, resource] as const))(
  '%s',
  (path, resource) => {
    const { list, item, itemExample } = resource;
    const read = async (query: Record<string, string> = {}) => {
      const range = list.range === 'required' ? { from: '2026-01-01', to: '2027-01-01' } : {};
      return listPage(
        us.apiToken,
        `${path}?${new URLSearchParams({ ...range, ...query })}`,
        us.connection.id,
      );
    };

    const idOf = (item: Item) => String(item[list.id]);

    it('shows items that are as documented, and as their example', async () => {
      const { data, message } = await read();
      expect(message.toLowerCase()).toBe(list.plural);
      expect(data.length).toBeGreaterThan(0);
      for (const each of [...data, itemExample]) {
        expect(Object.keys(each)).toEqual(Object.keys(itemExample).filter((key) => key in each));
        expect(v.safeParse(item, each).issues).toBeUndefined();
      }
    });

    it('has each item under its id, for its account only', async () => {
      const [first] = (await read()).data;
      const one = `${path}/${first && idOf(first)}`;
      expect(await us.api.get(one.toUpperCase().replace(path.toUpperCase(), path))).toMatchObject({
        status: 200,
        data: first,
      });
      expect((await us.api.get<object>(one)).data).toEqual(first);
      for (const [token, unknown] of [
        [(await world()).apiToken, one],
        [us.apiToken, `${path}/1`],
      ] as const)
        expect(await as(token).get(unknown)).toMatchObject({
          status: 404,
          message: expect.stringMatching(new RegExp(`^${list.singular} not found$`, 'i')),
        });
    });

    it.each(Object.entries(list.filters))('is filtered by %s', async (name, { column }) => {
      const key = Object.entries(list.columns).find(([, other]) => other === column)?.[0] ?? '';
      const schema =
        paths[path]?.get?.parameters.find((parameter) => parameter.name === name)?.schema ?? {};
      const [first] = (await read()).data;
      const value = [first?.[key as keyof Item]].flat()[0];
      expect((await read({ [name]: String(value) })).data).toContainEqual(first);
      expect((await read({ [name]: otherThan(value, schema) })).data).toEqual([]);
      if (schema.enum || schema.items || schema.maximum || schema.type === 'boolean')
        expect(await read({ [name]: '?' })).toMatchObject({
          status: 400,
          errors: [{ field: name }],
        });
    });
  },
);

const isId = (value: unknown) => /^[0-9a-f-]{36}$/.test(String(value));

it.each(
  lists.flatMap((resource) => {
    const record = recordKinds.find((kind) => Object.is(kind, resource));
    return record ? [[resource.list.path, resource, record.recordExample] as const] : [];
  }),
)(
  '%s shows what the example of a record says',
  async (path, { list, itemExample }, recordExample) => {
    const range = list.range === 'required' ? '?from=2026-01-01&to=2100-01-01' : '';
    const { data } = await listPage(us.apiToken, path + range, us.connection.id);
    const said = Object.entries(itemExample).filter(
      ([name, value]) => name in recordExample && name !== 'sourceId' && !isId(value),
    );
    expect(said).not.toEqual([]);
    expect(data[0]).toMatchObject(Object.fromEntries(said));
  },
);

/** A value of a filter that no example passes. */
function otherThan(value: unknown, { type, format, enum: words, maximum, items }: Schema): string {
  if (type === 'boolean') return String(!value);
  if (items) return otherThan(value, items);
  if (format === 'uuid') return crypto.randomUUID();
  return String(words?.find((word) => word !== value) ?? maximum ?? 'none of them');
}
