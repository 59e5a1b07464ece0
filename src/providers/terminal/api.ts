import { type Call, call } from '../call.ts';
import type { Access, Json, Organisation } from '../connector.ts';
import { at, field, idFrom, listAt, nameFrom } from '../read.ts';

/** The two parts of a credential: our secret key, and the token of a customer's connection. */
export type Keys = { secretKey: string; connectionToken: string };

export type Api = { access: Access; keys: Keys };

export type Query = NonNullable<Call['query']>;

/** Terminal's maximum is unknown; it allows this many. */
const limit = 100;

/** @throws Problem */
export async function get({ access, keys }: Api, path: string, query: Query = {}): Promise<unknown> {
  const { json } = await call({
    url: `${access.baseUrl}${path}`,
    headers: { Authorization: `Bearer ${keys.secretKey}`, 'Connection-Token': keys.connectionToken },
    query,
    until: access.until,
  });
  return json;
}

/** A page of a list, and the next cursor: undefined after the last. @throws Problem */
export async function page(api: Api, path: string, query: Query, after: Json) {
  const cursor = typeof after === 'string' ? after : undefined;
  const reply = await get(api, path, { limit, ...query, cursor });
  const next = field(reply, 'next');
  return { items: listAt(reply, 'results'), next: typeof next === 'string' ? next : undefined };
}

/**
 * The connection's customer, otherwise its provider; the id is the connection's, as are its cursors. `problem`: why
 * nothing new arrives, if Terminal has lost access to the provider. @throws Problem
 */
export async function organisationOf(api: Api): Promise<Organisation & { problem: string | undefined }> {
  const connection = await get(api, '/connections/current');
  const provider = nameFrom(at(connection, 'provider', 'name')) || 'the provider';
  return {
    name: field(connection, 'company', 'name') ?? provider,
    id: idFrom(at(connection, 'id')),
    problem: lost.includes(String(at(connection, 'status')))
      ? `is no longer connected to ${provider}: the customer has to connect it again, through Terminal`
      : undefined,
  };
}

/** The states of a connection in which nothing new arrives. */
const lost = ['disconnected', 'archived', 'pending_deletion'];
