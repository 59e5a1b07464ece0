import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { siteDirectory } from '#src/cli/project/paths.ts';
import { readJson } from './folder.ts';

export type Json = { [key: string]: unknown };

export type Document = Json & {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: Record<string, Record<string, Json>>;
};
export type Operation = {
  operationId: string;
  security: Json[];
  parameters?: Json[];
  requestBody?: { content: { 'application/json': { schema: Json; example: unknown } } };
  responses: Record<string, Json>;
};

/** A request of an operation. */
export type Made = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
};

type Content = { 'application/json'?: { schema: Json; examples?: Json } };

/** The document as `npm run assets` made it. */
export const readDocument = (name: 'openapi.json' | 'openapi.operator.json'): Document =>
  readJson(siteDirectory, name);

/** The operations of a document. What others need is deleted last. */
export const operationsOf = (document: Document) =>
  Object.entries(document.paths)
    .flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        document,
        template,
        method,
        operation,
      })),
    )
    .toSorted((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));

export type Described = ReturnType<typeof operationsOf>[number];

/** A document whose objects hold no more than they declare: tests bear no additions. */
export function closed<T>(document: T): T {
  if (Array.isArray(document)) return document.map(closed) as T; // of the same kind
  if (typeof document !== 'object' || document === null) return document;
  const parts = Object.fromEntries(
    Object.entries(document).map(([key, value]) => [key, closed(value)]),
  );
  const open =
    parts.type === 'object' && parts.properties && parts.additionalProperties === undefined;
  return (open ? { ...parts, additionalProperties: false } : parts) as T;
}

/** Sends a request of an operation. Returns the status, and what of the reply is not as the document says. */
export function checker(document: Document, baseUrl: string) {
  const check = schemas(document);
  return async (operation: Operation, { path, ...request }: Made, credential: object) => {
    // Making requests can take so long that the service ends a connection that was kept, unseen.
    const sent = { ...request.headers, ...credential, connection: 'close' };
    const reply = await fetch(baseUrl + path, { ...request, headers: sent });
    const text = await reply.text();
    return { status: reply.status, text, problems: problems(operation, reply, text) };
  };

  function problems(operation: Operation, { status, headers }: Response, text: string): unknown[] {
    const written = operation.responses[status];
    if (!written) return [`status ${status} is not documented`];
    const response = resolved(document, written) as { headers?: Json; content?: Content };
    return [
      ...wrongBody(response.content?.['application/json']),
      ...Object.entries(response.headers ?? {}).flatMap(([name, part]) => {
        const header = resolved(document, part as Json) as { required?: boolean; schema: Json };
        const value = headers.get(name);
        if (value === null) return header.required ? [`no ${name}`] : [];
        return check(header.schema, header.schema.type === 'integer' ? Number(value) : value);
      }),
    ];

    function wrongBody(json: Content['application/json']): unknown[] {
      const isJson = headers.get('content-type')?.startsWith('application/json');
      if (!json || !isJson) return json && !isJson ? ['not JSON'] : [];
      const reply = JSON.parse(text);
      // Those to operators, and about fields, are too many to document.
      const isForOperators = 'OperatorKey' in (operation.security[0] ?? {});
      const spelledOut =
        status !== 400 || isForOperators || reply.errors || reply.message in (json.examples ?? {});
      return [
        ...(spelledOut ? [] : [`message "${reply.message}" is not documented`]),
        ...check(json.schema, reply),
      ];
    }
  }
}

/** Checks values against schemas that may refer to the document's components. */
export function schemas(document: Document): (schema: Json, value: unknown) => unknown[] {
  const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addSchema({ $id: 'document', components: document.components });
  return (schema, value) => {
    ajv.validate(schema.$ref ? { $ref: `document${schema.$ref}` } : schema, value);
    return ajv.errors ?? [];
  };
}

/** A part of a document, or what it refers to. */
export function resolved(document: Document, part: Json): Json {
  const [, , kind = '', name = ''] = typeof part.$ref === 'string' ? part.$ref.split('/') : [];
  return kind ? (document.components[kind]?.[name] ?? {}) : part;
}

/** Every part of what replies and deliveries of a document refer to, schemas among them. */
export function partsOfReplies(document: Document): Json[] {
  const found = new Set<Json>();
  const add = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || found.has(part as Json)) return;
    found.add(part as Json); // lists are no different here
    for (const inner of Object.values(part)) add(inner);
    add(resolved(document, part as Json));
  };
  for (const { responses } of Object.values(document.paths).flatMap(Object.values<Operation>))
    add(responses);
  for (const { post } of Object.values(document.webhooks ?? {})) add(post.requestBody);
  return [...found];
}
