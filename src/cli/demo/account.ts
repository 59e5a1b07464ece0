import { type Operator, request } from '../operate/client.ts';
import type { DemoAccount } from './extras.ts';
import * as extras from './extras.ts';
import type { DemoProvider } from './provider.ts';

/** Creates the demo account, whose second connection pulls from `provider`, or returns an earlier one. */
export async function demoAccount(
  operator: Operator,
  before: DemoAccount | undefined,
  provider: DemoProvider,
): Promise<DemoAccount> {
  const accounts = await operator.call('GET /accounts');
  const earlier = accounts.some(({ id }) => id === before?.accountId) ? before : undefined;
  const account = earlier ?? (await openDemo(operator, provider));
  for (const prepare of Object.values<extras.Prepare>(extras))
    await prepare(operator, account, provider, !earlier);
  return account;
}

const openDemo = (
  operator: Operator,
  { url: baseUrl, credential }: DemoProvider,
): Promise<DemoAccount> =>
  openAccount(operator, 'Demo Fleet', [
    { provider: 'motive', name: 'Long haul' },
    { provider: 'samsara', name: 'City vans', historyDays: 30, credential, baseUrl },
  ]);

/** Creates an account with these connections, a token, and an ingest key for each. */
export async function openAccount(
  operator: Operator,
  name: string,
  wanted: {
    provider: string;
    name: string;
    credential?: string;
    baseUrl?: string;
    historyDays?: number;
  }[],
): Promise<DemoAccount> {
  const { id: accountId } = await operator.call('POST /accounts', { body: { name } });
  const body = { name: 'demo' };
  const token = await operator.call('POST /accounts/:id/tokens', { id: accountId, body });
  const connections = [];
  for (const connection of wanted) {
    const { id } = await operator.call('POST /accounts/:id/connections', {
      id: accountId,
      body: connection,
    });
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

/** Registers `url` for all notifications; an earlier webhook gets the new URL. */
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
