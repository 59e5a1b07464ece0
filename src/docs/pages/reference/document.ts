/** The parts of an OpenAPI document that the reference shows. */
export type ApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Operation } };
  webhooks: { [name: string]: { post: Operation } };
  components: {
    securitySchemes: { ApiToken: { name: string } };
    parameters: { [name: string]: Parameter };
    schemas: { [name: string]: Schema };
  };
};

export type Operation = {
  summary: string;
  description?: string;
  tags: string[];
  security: unknown[];
  parameters?: (Parameter | Ref)[];
  requestBody?: { content: Content };
  responses: { [status: string]: Reply | Ref };
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
};

export type Reply = { description: string; content?: Content };

export type Content = {
  'application/json': { schema: Schema; example?: unknown; examples?: { [name: string]: { value: Failed } } };
};

/** The body of a failure. */
type Failed = { message: string; errors?: { field: string }[] };

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

/** An operation's parameters, those of the components included. */
export const parametersOf = ({ components }: ApiDocument, { parameters = [] }: Operation): Parameter[] =>
  parameters.flatMap((one) => ('$ref' in one ? (components.parameters[nameIn(one)] ?? []) : one));
