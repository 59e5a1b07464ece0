import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A published API description, as far as it is read here. */
export type Description = { paths: { [path: string]: unknown }; components?: unknown };

/** What a fake was asked, and what it answered. */
export type Exchange = { path: string; query: URLSearchParams; status: number; body: unknown };

type Operation = {
  parameters?: { in?: string; name?: string; $ref?: string }[];
  responses?: { [status: string]: { content?: { [type: string]: { schema?: object } } } };
};

/**
 * Where a fake departs from its provider's published description: paths and parameters that are not in it, and
 * replies that do not have the form that it gives. Empty if nowhere.
 */
export function departures(description: Description, exchanges: Exchange[]): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  formats.default(ajv);
  ajv.addSchema({ ...description, $id: 'published' });
  const found = exchanges.flatMap(({ path, query, status, body }) => {
    const where = `GET ${path}`;
    const operation = (description.paths[path] as { get?: Operation } | undefined)?.get;
    if (!operation) return [`${where} is not published`];
    const known = (operation.parameters ?? []).map((parameter) => nameOf(description, parameter));
    const unknown = [...query.keys()].filter((name) => !known.includes(name));
    const media = operation.responses?.[status]?.content?.['application/json'];
    if (!media?.schema) return [`${where} does not answer ${status}`];
    const validate = ajv.compile(absolute(media.schema) as object);
    const wrong = validate(body)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
    return [
      ...unknown.map((name) => `${where} has no parameter ${name}`),
      ...wrong.map((one) => `${where}: ${one}`),
    ];
  });
  return [...new Set(found)];
}

function nameOf(description: Description, parameter: { name?: string; $ref?: string }): string | undefined {
  if (!parameter.$ref) return parameter.name;
  const steps = parameter.$ref.replace('#/', '').split('/');
  const target = steps.reduce<unknown>((at, step) => (at as { [key: string]: unknown })?.[step], description);
  return (target as { name?: string } | undefined)?.name;
}

/** References of a part, which are into the whole. */
const absolute = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"published#/'));
