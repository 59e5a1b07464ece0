import type { Demo } from '../local/directory.ts';
import { type Operator, request } from '../operate/client.ts';

export type DemoAccount = Pick<Demo, 'accountId' | 'apiToken' | 'connections'>;

type Provider = { url: string; credential: string };

/**
 * Creates the demo account of a home, or returns an earlier one. Its first connection is fed by a connector; the second
 * one, of `provider`, pulls.
 */
export async function demoAccount(
  operator: Operator,
  before: DemoAccount | undefined,
  { home, provider }: { home?: string; provider?: Provider },
): Promise<DemoAccount> {
  const accounts = await operator.call('GET /accounts');
  if (before && accounts.some(({ id }) => id === before.accountId)) {
    const id = before.connections[1]?.id;
    if (!id || !provider) return before;
    const { credential, url: baseUrl } = provider; // its port may be another
    await operator.call('PUT /connections/:id/credential', { id, body: { credential, baseUrl } });
    return before;
  }
  const vans = { provider: 'samsara', name: 'City vans', historyDays: 30 };
  return openAccount(operator, home ? { name: `Demo Fleet in ${home}`, home } : { name: 'Demo Fleet' }, [
    { provider: 'motive', name: 'Long haul' },
    ...(provider ? [{ ...vans, credential: provider.credential, baseUrl: provider.url }] : []),
  ]);
}

export async function openAccount(
  operator: Operator,
  account: { name: string; home?: string },
  wanted: { provider: string; name: string; credential?: string; baseUrl?: string; historyDays?: number }[],
): Promise<DemoAccount> {
  const { id: accountId } = await operator.call('POST /accounts', { body: account });
  const body = { name: 'demo' };
  const token = await operator.call('POST /accounts/:id/tokens', { id: accountId, body });
  const connections = [];
  for (const connection of wanted) {
    const { id } = await operator.call('POST /accounts/:id/connections', { id: accountId, body: connection });
    const key = await operator.call('POST /connections/:id/ingest-keys', { id, body });
    connections.push({ id, name: connection.name, ingestKey: key.value });
  }
  return { accountId, apiToken: token.value, connections };
}

/** Returns a link that signs in to the portal as a user of an account. */
export async function demoSignIn(
  operator: Operator,
  accountId: string,
  email = 'demo@fleet.example',
): Promise<string> {
  const users = await operator.call('GET /accounts/:id/users', { id: accountId });
  if (!users.some((user) => user.email === email))
    await operator.call('POST /accounts/:id/users', { id: accountId, body: { email } });
  return (await operator.call('POST /sign-in-links', { body: { email } })).url;
}

/** Registers `url` for all notifications of the demo account; an earlier webhook gets the new URL. */
export async function demoWebhook(baseUrl: string, demo: DemoAccount, url: string): Promise<void> {
  const headers = { 'x-api-key': demo.apiToken, 'content-type': 'application/json' };
  const body = JSON.stringify({
    connectionIds: demo.connections.map(({ id }) => id),
    url,
    httpVerb: 'POST',
    headers: { 'X-Demo-Secret': 'let-me-in' },
    notificationTypes: [1, 2],
  });
  const list = await request<{ id: string; url: string }[]>(`${baseUrl}/webhooks`, { headers });
  const before = list.find((webhook) => webhook.url.endsWith(demoPath));
  if (before?.url === url) return;
  if (before) await request(`${baseUrl}/webhook/${before.id}`, { method: 'PUT', headers, body });
  else await request(`${baseUrl}/webhook`, { method: 'POST', headers, body });
}

export const demoPath = '/fleet-demo';
