import { isPrintable } from '../../platform/fields.ts';
import { type Call, call } from '../call.ts';
import type { Access, Json, Organisation } from '../connector.ts';
import { at, field, idFrom, listAt } from '../read.ts';

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

const currentConnection = (api: Api): Promise<unknown> => get(api, '/connections/current');

/**
 * The connection's customer, otherwise its provider; the id is the connection's, as are its cursors. @throws Problem
 */
export async function organisationOf(api: Api): Promise<Organisation & { problem: string | undefined }> {
  const connection = await currentConnection(api);
  const names = [
    at(connection, 'company', 'name'),
    at(connection, 'account', 'name'),
    providerOf(connection),
  ];
  return {
    name: names.find(isName) ?? 'Terminal',
    id: idFrom(at(connection, 'id')),
    problem: problemIn(connection),
  };
}

/** Why nothing new arrives, if Terminal has lost access to the provider. @throws Problem */
export const problemOf = async (api: Api): Promise<string | undefined> =>
  problemIn(await currentConnection(api));

function problemIn(connection: unknown): string | undefined {
  const provider = providerOf(connection);
  const name = isName(provider) ? provider : 'the provider';
  switch (at(connection, 'status')) {
    case 'disconnected':
      return `is no longer connected to ${name}: the customer has to sign in there again, through Terminal`;
    case 'archived':
    case 'pending_deletion':
      return `has archived this connection to ${name}`;
    default:
      return undefined;
  }
}

const providerOf = (connection: unknown): unknown => at(connection, 'provider', 'name');

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.trim() !== '' && name.length <= 200 && isPrintable(name);
