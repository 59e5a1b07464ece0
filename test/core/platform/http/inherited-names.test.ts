import { env } from 'cloudflare:workers';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { operations } from '#test/support/operations.ts';
import { pageIn } from '#test/support/page.ts';
import { personalPages, portalAccount } from '#test/support/portal-account.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { bodies } from '#test/support/routes.ts';
import { rows } from '#test/support/rows.ts';
import { fetchWith } from '#test/support/service.ts';
import { as, issueKey, operator, type World, world } from '#test/support/world.ts';

/** What every object inherits: none of these is in a table of ours, whoever asks for it. */
const inherited = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
/** Values with a word; all of them of the first, which says enough of the others. */
const shapesOf = (word: string) =>
  word === inherited[0] ? [word, [word], { [word]: word }, { [word]: ['Crash'] }] : [word];

/** It takes some 25 s. */
const slow = 'POST /operator/check';
const quick = operations.filter(({ route }) => route !== slow);

type Body = { [name: string]: unknown };
let ours: Awaited<ReturnType<typeof portalAccount>>;
let us: World;
beforeAll(async () => {
  ours = await portalAccount();
  us = ours.us;
});

/** Far more is asked for here than callers may in a minute. */
const enough = { limit: async () => ({ success: true }) };
const limits = Object.keys(env).filter((name) => name.endsWith('_LIMIT'));
const bindings = { ...env, ...Object.fromEntries(limits.map((name) => [name, enough])) };

/** The status of a call of a route; where the path has ids, these are of our account, or `id`. */
async function statusOf(
  route: string,
  { body, query = {}, id }: { body?: unknown; query?: object; id?: string },
) {
  const [method = '', pattern = ''] = route.split(' ');
  const ids: { [list: string]: string } = {
    webhook: ours.webhook.id,
    webhooks: ours.webhook.id,
    accounts: us.accountId,
    connections: us.connection.id,
  };
  const list = /(\w+)\/:id/.exec(pattern)?.[1] ?? '';
  const path = pattern.replace(':id', id ?? ids[list] ?? newId()).replace(/:\w+/, id ?? newId());
  const credential = path.startsWith('/operator')
    ? { authorization: `Bearer ${env.OPERATOR_KEY}` }
    : { 'x-api-key': path.startsWith('/ingest') ? us.connection.ingestKey : us.apiToken };
  const headers = {
    ...credential,
    'connection-id': us.connection.id,
    'content-type': 'application/json',
  };
  const asked = `${path}?${new URLSearchParams(query as Record<string, string>)}`;
  const request = new Request(`https://api.example.com${asked}`, {
    ...{ method, headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await fetchWith(bindings, request)).status;
}

/** The usual body of a route with this value at a path. */
function bodyWith(route: string, path: string[], value: unknown): Body {
  const body = structuredClone(bodies[route]?.(us) ?? {}) as Body; // an object
  const last = path.length - 1;
  const object = path.slice(0, last).reduce((at, name) => {
    at[name] ??= {};
    return at[name] as Body; // an object
  }, body);
  Object.defineProperty(object, path[last] ?? '', { value, enumerable: true, configurable: true });
  return body;
}

describe('a name that every object inherits is as good as unknown', () => {
  it.each(quick)('$route', { timeout: 60_000 }, async ({ route, parameters, properties }) => {
    const usual = properties && (bodies[route]?.(us) ?? {});
    const failed: unknown[] = [];
    const send = async (sent: Parameters<typeof statusOf>[1]) => {
      if ((await statusOf(route, sent)) >= 500) failed.push(sent);
    };
    for (const word of inherited) {
      if (route.includes(':')) await send({ body: usual, id: word });
      for (const name of properties ? [] : [...parameters, word])
        await send({ query: { [name]: word } });
      for (const { within, name } of [...(properties ?? []), { within: [], name: word }])
        for (const value of properties ? shapesOf(word) : [])
          await send({ body: bodyWith(route, [...within, name], value) });
    }
    expect(failed).toEqual([]);
  });

  it.each(recordKinds)('records of the kind $kind', async ({ recordExample, recordFields }) => {
    const them = await world();
    const records = inherited.flatMap((word) =>
      ['kind', 'sourceId', ...Object.keys(recordFields), word].flatMap((name) =>
        shapesOf(word).map((value) => ({ ...recordExample, [name]: value })),
      ),
    );
    for (let from = 0; from < records.length; from += 500)
      expect((await them.send(...records.slice(from, from + 500))).status).toBe(200);
  });

  it.each(personalPages)('GET %s, and the forms on it', { timeout: 60_000 }, async (page) => {
    const path = ours.at(page);
    const { all } = pageIn(await ours.html(path));
    const names = (form: ReturnType<typeof all>[number]) =>
      form.querySelectorAll('[name]').map((control) => control.getAttribute('name') ?? '');
    const failed: unknown[] = [];
    const see = (status: number, ...what: unknown[]) => status >= 500 && failed.push(what);
    for (const word of inherited) {
      const wrong = page.replace(/:\w+/g, word);
      see((await ours.get(wrong, { bindings })).status, wrong);
      for (const form of all('form')) {
        const action = form.getAttribute('action') || path;
        const fields = [...new Set(names(form)), word];
        for (const some of [fields, ...fields.map((field) => [field])]) {
          const sent = some.map((field): [string, string] => [field, word]);
          const reply =
            form.getAttribute('method') === 'post'
              ? await ours.post(action, sent, { bindings })
              : await ours.get(`${action}?${new URLSearchParams(sent)}`, { bindings });
          see(reply.status, action, some);
        }
      }
    }
    expect(failed).toEqual([]);
  });
});

it('a provider and its labels may be called so', async () => {
  const [word = ''] = inherited;
  const { accountId } = await world();
  const made = await operator.post<{ id: string; tSP: string }>(
    `/operator/accounts/${accountId}/connections`,
    { provider: word },
  );
  expect(made).toMatchObject({ status: 200, data: { tSP: 'Constructor' } });
  const map = Object.fromEntries(inherited.map((name) => [name, ['Crash']]));
  const { data } = await operator.patch<{ incidentTypeMap: object }>(
    `/operator/connections/${made.data.id}`,
    { incidentTypeMap: map },
  );
  expect(Object.entries(data.incidentTypeMap).sort()).toEqual(Object.entries(map).sort());
  const connector = as(await issueKey(made.data.id));
  for (const name of inherited)
    await connector.send(vehicle(), safetyEvent({ sourceId: name, incidentTypes: [name] }));
  const types = await rows<{ types: string }>(
    'select translated_incident_types as types from safety_events where connection_id = ?1',
    made.data.id,
  );
  expect(types).toEqual(inherited.map(() => ({ types: '["Crash"]' })));
});
