import type * as v from 'valibot';
import { apiVersion } from '../../platform/http/envelope.ts';
import { components, type Json } from './components.ts';
import { envelope, type Operation, written } from './operation.ts';
import { Failure, FieldError, headers, responses } from './shared.ts';

export type Parts = {
  title: string;
  description: string;
  /** Its operations by tag, with the tag's description. */
  groups: { [tag: string]: [description: string, operations: Operation[]] };
  /** Components by name: requests, and responses that are sent unchanged. */
  schemas: Record<string, v.GenericSchema>;
  /** Components of responses whose schemas transform what is sent. */
  replies?: Record<string, v.GenericSchema>;
  securitySchemes: Record<string, Json>;
  parameters?: Record<string, Json>;
  /** Messages of 413. */
  tooLarge: string[];
  webhooks?: Json;
};

/** Builds an OpenAPI 3.1 document. */
export function document(parts: Parts): Json {
  const { title, description, groups, securitySchemes, parameters, tooLarge, webhooks } = parts;
  const schemas = {
    ...components({ ...parts.schemas, Failure, FieldError }),
    ...components(parts.replies ?? {}, 'output'),
  };
  const paths: Record<string, Json> = {};
  const envelopes: Record<string, Json> = {};
  for (const [tag, [, operations]] of Object.entries(groups))
    for (const operation of operations) {
      const [method = '', path = ''] = operation.call.split(' ');
      paths[path] = { ...paths[path], [method]: written(operation, tag) };
      envelopes[operation.reply.name] = envelope(operation.reply);
    }
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: apiVersion,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document came from.' }],
    tags: Object.entries(groups).map(([name, [description]]) => ({ name, description })),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes,
      ...(parameters && { parameters }),
      headers: headers(securitySchemes),
      responses: responses(tooLarge),
      schemas: { ...schemas, ...envelopes },
    },
  };
}
