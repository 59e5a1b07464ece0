import { isPrintable } from '../../../core/platform/fields.ts';
import { partsOf } from '../../../core/platform/parts.ts';
import { parseRetryAfter } from '../../../core/platform/retry-after.ts';
import { call, inSize } from '../connector/call.ts';
import {
  type Access,
  type Json,
  ProviderError,
  type ProviderErrorKind,
} from '../connector/connector.ts';
import { at, field, iso, listAt } from '../connector/read.ts';

/** A session, which lasts two weeks: its server, and what calls carry. */
type Session = { server: string; credentials: { [name: string]: Json } };

type Login = { server: string; database: string; user: string; password: string };

export type Api = {
  access: Access;
  login: Login;
  /** Where to get a session: the connection's base URL, otherwise the server of the credential. */
  authServer: string;
  session: Session | null;
};

/** Where every database can be reached at first: it redirects to the database's server. */
export const usualServer = 'https://my.geotab.com';

/** An error that Geotab names: its type is meaningful, its message is not. */
class GeotabError extends ProviderError {
  readonly type: string;

  constructor(type: string, retryAfterMs: number | undefined) {
    super(kinds.get(type) ?? 'unexpected', `returns ${type}`, retryAfterMs);
    this.type = type;
  }
}

const kinds = new Map<string, ProviderErrorKind>([
  ['OverLimitException', 'rate limited'],
  ['DbUnavailableException', 'unavailable'], // being moved or started
  ['InvalidUserException', 'unavailable'], // the session is dead, unless it was just requested: see below
]);

/** @throws Problem: invalid, for a server that is no host */
export function open(access: Access): Api {
  const login = JSON.parse(access.credential) as Login; // as `readCredential` has written it
  const server = originOf(login.server);
  if (!server)
    throw new ProviderError('invalid', 'The server must be a host, such as my.geotab.com.');
  const authServer = access.baseUrl === usualServer ? server : access.baseUrl;
  const session = access.session as Session | null; // as `authenticate` kept it
  return { access, login, authServer, session };
}

/** Calls a method, and returns its result. @throws Problem: GeotabError for errors that Geotab names */
const rpc = (api: Api, method: string, params: object): Promise<unknown> =>
  withSession(api, (session) => callIn(api, session, method, params));

/** How many calls go into one: few enough that the positions of 25 exceptions fit into a reply. */
const callsAtOnce = 25;

/** How many are made at once: an invocation pulls five connections, and can wait for six replies. */
const partsAtOnce = 2;

/** Calls methods in bulk, and returns their results in order. If one fails, all do. @throws Problem */
export async function rpcAll(
  api: Api,
  calls: { method: string; params: object }[],
): Promise<unknown[]> {
  const parts = partsOf(calls, callsAtOnce);
  const results = await withSession(api, async (session) => {
    const found: unknown[] = [];
    for (const some of partsOf(parts, partsAtOnce)) {
      const calling = some.map((calls) => callIn(api, session, 'ExecuteMultiCall', { calls }));
      found.push(...(await Promise.all(calling)));
    }
    return found;
  });
  return results.flatMap((result, i) => {
    if (!Array.isArray(result) || result.length !== parts[i]?.length)
      throw new ProviderError('unexpected', 'returns only some of several results');
    return result as unknown[];
  });
}

/** Makes calls with the session. An expired one is renewed once, and they are made again. */
async function withSession<T>(api: Api, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await work(api.session ?? (await authenticate(api)));
  } catch (error) {
    if (isDead(error)) return work(await authenticate(api));
    // The database may have moved to another server, which the next authentication finds.
    if (error instanceof ProviderError && error.kind === 'unavailable') keep(api, null);
    throw error;
  }
}

const isDead = (error: unknown) =>
  error instanceof GeotabError && error.type === 'InvalidUserException';

const callIn = (api: Api, { server, credentials }: Session, method: string, params: object) =>
  send(api, server, method, { ...params, credentials });

function keep(api: Api, session: Session | null): void {
  api.session = session;
  api.access.keepSession(session);
}

async function authenticate(api: Api): Promise<Session> {
  const { authServer, login, access } = api;
  if (!access.mayCall(authServer))
    throw new ProviderError('invalid', 'The server must be a public host with https.');
  const { database, user: userName, password } = login;
  let result: unknown;
  try {
    result = await send(api, authServer, 'Authenticate', { database, userName, password });
  } catch (error) {
    if (isDead(error))
      throw new ProviderError('refused', 'refuses the user, the password or the database');
    throw error;
  }
  if (typeof at(result, 'credentials', 'sessionId') !== 'string')
    throw new ProviderError('unexpected', 'returns no session');
  const credentials = at(result, 'credentials') as Session['credentials']; // an object that has one
  const session = { server: serverAt(api, at(result, 'path')), credentials };
  keep(api, session);
  return session;
}

/** The server of a session: `path` is `ThisServer`, or a bare host, which must be Geotab's own. */
function serverAt({ authServer, access }: Api, path: unknown): string {
  if (path === undefined || path === null || path === '' || path === 'ThisServer')
    return authServer;
  const server = typeof path === 'string' ? originOf(path) : undefined;
  if (server) {
    const { host, hostname } = new URL(server);
    if (host === new URL(authServer).host) return authServer;
    if (hostname.endsWith('.geotab.com') && access.mayCall(server)) return server;
  }
  throw new ProviderError('unexpected', 'sends us to a server that is not its own');
}

async function send(api: Api, server: string, method: string, params: object): Promise<unknown> {
  const { json, headers } = await reach(api, server, { method, params });
  const error = at(json, 'error');
  if (error !== undefined && error !== null) throw new GeotabError(typeOf(error), waitOf(headers));
  const result = at(json, 'result');
  if (result === undefined) throw new ProviderError('unexpected', 'returns no result');
  return result;
}

/** Geotab reports errors with HTTP 200: 401 and 403 come from something in between, and are temporary. */
async function reach({ access }: Api, server: string, body: object) {
  try {
    return await call(access, { url: `${server}/apiv1`, body });
  } catch (error) {
    if (
      error instanceof ProviderError &&
      (error.kind === 'refused' || error.kind === 'not permitted')
    )
      throw new ProviderError('unavailable', error.message);
    throw error;
  }
}

const maxType = 100;

function typeOf(error: unknown): string {
  const type = at(error, 'data', 'type') ?? at(error, 'errors', 0, 'name');
  return typeof type === 'string' && isPrintable(type)
    ? type.slice(0, maxType)
    : 'an error without a type';
}

/** How long to wait: `Retry-After`, or until the limit is reset, which every response says. */
function waitOf(headers: Headers): number | undefined {
  const now = Date.now();
  const resetsIn = Date.parse(headers.get('x-rate-limit-reset') ?? '') - now;
  return (
    parseRetryAfter(headers.get('retry-after'), now) ??
    (Number.isFinite(resetsIn) ? Math.max(0, resetsIn) : undefined)
  );
}

/** The origin of a server, which may be a bare host; undefined if it is invalid. */
export function originOf(server: string): string | undefined {
  const url = URL.parse(server.includes('://') ? server : `https://${server}`);
  const isBare =
    url && `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/';
  return isBare && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

/** The items that `Get` finds; Geotab silently returns at most 5,000. @throws Problem */
export const get = async (api: Api, typeName: string, more: object = {}): Promise<unknown[]> =>
  listAt(await rpc(api, 'Get', { typeName, ...more }));

/** A page of a list by id, after the id `after`; `next` is undefined at the end. @throws Problem */
export async function walk(
  api: Api,
  typeName: string,
  after: Json,
  { resultsLimit, ...more }: { resultsLimit: number; search?: object },
) {
  const sort = { sortBy: 'id', sortDirection: 'asc', offset: after };
  const items = await inSize(resultsLimit, (resultsLimit) =>
    get(api, typeName, { sort, resultsLimit, ...more }),
  );
  const next = items.map((item) => field(item, 'id')).findLast((id) => typeof id === 'string');
  if (items.length > 0 && (next === undefined || next === after))
    throw new ProviderError('unexpected', `does not continue its list of ${typeName}`);
  return { items, next };
}

/**
 * A page of a feed in the order of versions, with the newest of each item: after a version, since a
 * time, or nothing but the version. `version` is where the next one continues.
 * @throws Problem
 */
export async function feed(
  api: Api,
  typeName: string,
  { version: fromVersion, since, limit }: { version?: string; since?: number; limit: number },
) {
  const search = since === undefined ? undefined : { fromDate: iso(since) };
  let asked = limit;
  const result = await inSize(limit, (resultsLimit) => {
    asked = resultsLimit;
    return rpc(api, 'GetFeed', { typeName, fromVersion, search, resultsLimit });
  });
  const items = listAt(result, 'data');
  const version = at(result, 'toVersion');
  if (typeof version !== 'string' || version === '')
    throw new ProviderError('unexpected', 'returns no version');
  return { items, version, more: items.length >= asked };
}
