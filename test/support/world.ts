import { env, exports } from 'cloudflare:workers';
import type { InferOutput } from 'valibot';
import type { IngestOutcome } from '#src/core/ingest/schema.ts';
import type { WebhookOutput } from '#src/core/webhooks/schema.ts';
import type { AuditEntry } from '#src/operator/api/accounts.ts';
import { hookUrl } from './receiver.ts';
import { fetchWith } from './service.ts';

export type Reply<T = unknown> = {
  status: number;
  headers: Headers;
  message: string;
  data: T;
  next?: string;
  errors?: { field: string; message: string }[];
  requestId?: string;
  retryAfter?: number;
};

const base = 'https://api.example.com';

/** Sends a request to the Worker. A `body` that is no string or bytes is sent as JSON. */
export async function call<T = unknown>(
  method: string,
  path: string,
  {
    headers = {},
    body,
    bindings,
  }: { headers?: Record<string, string>; body?: unknown; bindings?: Env } = {},
): Promise<Reply<T>> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const request = new Request(base + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
  });
  const response = await (bindings ? fetchWith(bindings, request) : exports.default.fetch(request));
  const text = await response.text();
  const reply = text ? JSON.parse(text) : {};
  return { ...reply, status: response.status, headers: response.headers };
}

const speaking = (headers: Record<string, string>, bindings?: Env) => {
  const sent = { headers, ...(bindings && { bindings }) };
  return {
    get: <T = unknown>(path: string) => call<T>('GET', path, sent),
    post: <T = unknown>(path: string, body: unknown) => call<T>('POST', path, { ...sent, body }),
    put: <T = unknown>(path: string, body: unknown) => call<T>('PUT', path, { ...sent, body }),
    patch: <T = unknown>(path: string, body: unknown) => call<T>('PATCH', path, { ...sent, body }),
    delete: <T = unknown>(path: string) => call<T>('DELETE', path, sent),
    send: (...records: unknown[]) =>
      call<IngestOutcome>('POST', '/ingest', { ...sent, body: { records } }),
  };
};

/** Speaks as the holder of a credential. */
export const as = (token: string, more: Record<string, string> = {}, bindings?: Env) =>
  speaking({ 'x-api-key': token, ...more }, bindings);

export const operator = speaking({ authorization: `Bearer ${env.OPERATOR_KEY}` });

/** What a call is refused with, and for which field. */
export const invalid = (message: unknown, field?: string) => ({
  status: 400,
  message,
  ...(field && { errors: [{ field }] }),
});

export type IssuedToken = { id: string; value: string; lastFour: string };

/** Issues an API token of the account, which `more` may limit. */
export const issueToken = async (accountId: string, more: object = {}): Promise<IssuedToken> =>
  (
    await operator.post<IssuedToken>(`/operator/accounts/${accountId}/tokens`, {
      name: 'main',
      ...more,
    })
  ).data;

/** Issues an ingest key. */
export const issueKey = async (connectionId: string): Promise<string> => {
  const path = `/operator/connections/${connectionId}/ingest-keys`;
  return (await operator.post<IssuedToken>(path, { name: 'connector' })).data.value;
};

/** A token of the account that is limited to these connections. */
export const issueLimited = async (accountId: string, connectionIds: string[]): Promise<string> =>
  (await issueToken(accountId, { connectionIds })).value;

/** Changes a connection as operators do. */
export const changeConnection = (id: string | undefined, body: object) =>
  operator.patch(`/operator/connections/${id}`, body);

/** Changes an account as operators do. */
export const changeAccount = <T>({ accountId }: { accountId: string }, body: object) =>
  operator.patch<T>(`/operator/accounts/${accountId}`, body);

export type { WebhookOutput as WebhookOut };

type Opened = { id: string; ingestKey: string; send: ReturnType<typeof speaking>['send'] };

/** An account with its connections, an API token, and an ingest key for each connection. */
export type World = {
  accountId: string;
  apiToken: string;
  tokenId: string;
  connections: Opened[];
  connection: Opened;
  api: ReturnType<typeof speaking>;
  /** The same of the first connection, whose lists it reads. */
  lists: ReturnType<typeof speaking>;
  /** Speaks as the connector of the first connection, which sends records. */
  connector: ReturnType<typeof speaking>;
  send: Opened['send'];
};

type Connection = { id: string; warning: string | null };

/** Adds a connection as operators do. */
export const addConnection = async (accountId: string, more: object = {}): Promise<Connection> => {
  const body = { provider: 'motive', ...more };
  return (await operator.post<Connection>(`/operator/accounts/${accountId}/connections`, body))
    .data;
};

/** Opens an account with a connection of each provider through the operators' routes, as they would. */
export async function world(provider = 'motive', ...others: string[]): Promise<World> {
  const account = await operator.post<{ id: string }>('/operator/accounts', {
    name: 'Acme Insurance',
  });
  if (account.status !== 200) throw new Error(account.message);
  const accountId = account.data.id;
  const { id: tokenId, value: apiToken } = await issueToken(accountId);
  const connections = [];
  for (const one of [provider, ...others]) {
    const { id } = await addConnection(accountId, { provider: one });
    const ingestKey = await issueKey(id);
    connections.push({ id, ingestKey, send: as(ingestKey).send });
  }
  const [connection] = connections;
  if (!connection) throw new Error('a world has at least one connection');
  const [api, connector] = [as(apiToken), as(connection.ingestKey)];
  const lists = as(apiToken, { 'connection-id': connection.id });
  const { send } = connector;
  return { accountId, apiToken, tokenId, connections, connection, api, lists, connector, send };
}

export type Hook = (open: () => Promise<void>) => void;

/** What `open` returns, opened before each test, or all, as the hook says, in the same object. */
export function openedBefore<T extends object>(hook: Hook, open: () => Promise<T>): T {
  const opened = {} as T; // filled in by then
  hook(async () => void Object.assign(opened, await open()));
  return opened;
}

export const worldBefore = (hook: Hook, ...providers: string[]): World =>
  openedBefore(hook, () => world(...providers));

/** All pages of a list. `read` gets the cursor of each, which the first has none of. */
export async function allPages<P extends { next?: string | undefined }>(
  read: (cursor: string | undefined) => Promise<P>,
): Promise<P[]> {
  const pages: P[] = [];
  do pages.push(await read(pages.at(-1)?.next));
  while (pages.at(-1)?.next !== undefined);
  return pages;
}

/** The body of a webhook that is valid as it stands. */
export const webhookBody = (world: World, changes: object = {}) => ({
  connectionIds: world.connections.map(({ id }) => id),
  url: hookUrl(),
  httpVerb: 'POST',
  headers: {},
  notificationTypes: [1, 2],
  ...changes,
});

/** Creates a webhook that is valid as it stands, but for the changes. */
export const createWebhook = (us: World, changes: object = {}) =>
  us.api.post<WebhookOutput>('/webhook', webhookBody(us, changes));

/** Replaces a webhook in the same way. */
export const replaceWebhook = (us: World, id: string, changes: object) =>
  us.api.put<WebhookOutput>(`/webhook/${id}`, webhookBody(us, changes));

export const register = async (us: World, changes: object = {}): Promise<WebhookOutput> =>
  (await createWebhook(us, changes)).data;

/** All webhooks of an account, the oldest first. */
export const webhooksOf = async ({ api }: World) =>
  (await api.get<WebhookOutput[]>('/webhooks')).data;

type AuditEntries = InferOutput<typeof AuditEntry>[];

/** What the audit log says of an account, the newest first. */
export const auditOf = async ({ accountId }: World) =>
  (await operator.get<AuditEntries>(`/operator/accounts/${accountId}/audit`)).data;
