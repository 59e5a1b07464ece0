import { type Call, call } from '../call.ts';
import type { Access, Json } from '../connector.ts';
import { field, listAt } from '../read.ts';

/** The two parts of a credential: our own, and the one that a customer's connection has at Terminal. */
export type Keys = { secretKey: string; connectionToken: string };

/** What Terminal is read with, and by when a page's calls must have ended (milliseconds since 1970). */
export type Api = Pick<Access, 'baseUrl' | 'incidentTypeMap'> & Keys & { until?: number };

export type Query = NonNullable<Call['query']>;

/** How many Terminal gives at most is not known; this many it does. */
const limit = 100;

/** @throws Problem */
export async function get(api: Api, path: string, query: Query = {}): Promise<unknown> {
  const { json } = await call({
    url: `${api.baseUrl}${path}`,
    headers: { Authorization: `Bearer ${api.secretKey}`, 'Connection-Token': api.connectionToken },
    query,
    ...(api.until !== undefined && { withinMs: api.until - Date.now() }),
  });
  return json;
}

/** A page of a list, and the cursor of the next one: null after the last. @throws Problem */
export async function page(api: Api, path: string, query: Query, after: Json) {
  const cursor = typeof after === 'string' ? after : undefined;
  const reply = await get(api, path, { ...query, limit, cursor });
  const next = field(reply, 'next');
  return { items: listAt(reply, 'results'), next: typeof next === 'string' ? next : null };
}

export const iso = (ms: number): string => new Date(ms).toISOString();
