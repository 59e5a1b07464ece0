/** The parts of an OpenAPI document that the reference shows. */
export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Operation & Offered } };
  webhooks: { [name: string]: { post: Operation } };
  components: {
    securitySchemes: { ApiToken: { name: string; description: string } };
    parameters: { [name: string]: Parameter };
    headers: { [name: string]: { description: string; schema: Schema } };
    responses: { [name: string]: Reply };
    schemas: { [name: string]: Schema };
  };
};

export type Operation = {
  summary: string;
  description?: string;
  tags: string[];
  security: unknown[];
  parameters?: (Parameter | Ref)[];
  requestBody?: { content: { 'application/json': { schema: Schema; example: unknown } } };
  responses: { [status: string]: Reply | Ref };
};

/** Clients' operations have a response for success. */
type Offered = { responses: { 200: Reply } };

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
};

export type Reply = {
  description: string;
  headers?: { [name: string]: Ref };
  content?: {
    'application/json': {
      schema: Schema;
      example?: unknown;
      examples?: { [name: string]: { value: Failed } };
    };
  };
};

/** The body of a failure. */
export type Failed = { status: number; message: string; errors?: FieldError[] };
export type FieldError = { field: string; message: string };

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  anyOf?: Schema[];
  items?: Schema;
  properties?: { [name: string]: Schema };
  required?: string[];
  additionalProperties?: Schema | boolean;
};

export type Ref = { $ref: string };

export const nameIn = ({ $ref }: Ref): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** A component or reference, resolved. @throws Error, when the component does not exist */
export function resolved<T extends object>(value: T | Ref, components: { [name: string]: T }): T {
  if (!('$ref' in value)) return value;
  const found = components[nameIn(value)];
  if (!found) throw new Error(`The document has no ${value.$ref}`);
  return found;
}

/** All operations of clients, with the method in capitals. */
export const offeredBy = ({ paths }: ApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** The calls of receivers. */
export const deliveredBy = ({ webhooks }: ApiDocument): Operation[] =>
  Object.values(webhooks).map(({ post }) => post);

/** The parts of a successful response's envelope. */
export function envelopeOf(
  { content }: Reply,
  { schemas }: ApiDocument['components'],
): { data: Schema; next?: Schema; resume?: Schema } {
  const schema: Schema | Ref = content?.['application/json'].schema ?? {};
  return { data: {}, ...resolved<Schema>(schema, schemas).properties };
}

/** The possible bodies of a failure. */
export const failuresOf = ({ content }: Reply): Failed[] =>
  Object.values(content?.['application/json'].examples ?? {}).map(({ value }) => value);
