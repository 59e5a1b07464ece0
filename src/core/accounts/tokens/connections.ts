import { validate as isUuid } from 'uuid';
import * as v from 'valibot';

/** How many connections a token can be limited to. */
export const maxConnectionsOfToken = 100;

/** The connections that a token is limited to. An empty list is refused, because it would mean no limit. */
export const SomeConnections = v.pipe(
  v.custom<string[]>(
    (ids) =>
      Array.isArray(ids) &&
      ids.length > 0 &&
      ids.length <= maxConnectionsOfToken &&
      ids.every(isUuid),
    `must be 1 to ${maxConnectionsOfToken} UUIDs`,
  ),
  v.metadata({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    minItems: 1,
    maxItems: maxConnectionsOfToken,
  }),
  v.transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]),
);
