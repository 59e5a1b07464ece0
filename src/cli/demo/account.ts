import type { Demo } from '../local/directory.ts';
import { type Operator, request } from '../operate/client.ts';

/** The demo's account with its two connections and their credentials. */
export type DemoAccount = Pick<Demo, 'accountId' | 'apiToken' | 'connections'>;

/** Opens the demo's account, unless the one of an earlier start is still there. */
export async function demoAccount(operator: Operator, before: Demo | undefined): Promise<DemoAccount> {
  const accounts = await operator.get<{ id: string }[]>('/accounts');
  if (before && accounts.some(({ id }) => id === before.accountId)) return before;
  const { id: accountId } = await operator.post<{ id: string }>('/accounts', { name: 'Demo Fleet' });
  const token = await operator.post<{ value: string }>(`/accounts/${accountId}/tokens`, { name: 'demo' });
  const connections = [];
  for (const [provider, name] of [
    ['motive', 'Long haul'],
    ['samsara', 'City vans'],
  ]) {
    const path = `/accounts/${accountId}/connections`;
    const { id } = await operator.post<{ id: string }>(path, { provider, name });
    const key = await operator.post<{ value: string }>(`/connections/${id}/ingest-keys`, { name: 'demo' });
    connections.push({ id, name: name ?? '', ingestKey: key.value });
  }
  return { accountId, apiToken: token.value, connections };
}

/** Makes a link that signs in to the portal as a person of the demo's account. */
export async function demoSignIn(operator: Operator, { accountId }: DemoAccount): Promise<string> {
  const email = 'demo@fleet.example';
  const users = await operator.get<{ email: string }[]>(`/accounts/${accountId}/users`);
  if (!users.some((user) => user.email === email))
    await operator.post(`/accounts/${accountId}/users`, { email });
  return (await operator.post<{ url: string }>('/sign-in-links', { email })).url;
}

/** Registers `url` for everything of the demo's account; a webhook of an earlier start is moved to it. */
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

/** The path under which the demo's receiver listens. */
export const demoPath = '/fleet-demo';

const incidents = [
  ['hard_brake', 'Braking'],
  ['tailgating', 'FollowingDistanceSevere'],
  ['cell_phone', 'MobileUsage'],
  ['hard_corner', 'HarshTurn'],
  ['stop_sign_violation', 'RollingStop'],
  ['drowsiness', 'Drowsy'],
] as const;

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T; // never empty

/** Sends in a made-up fleet, then an event every few seconds and, early on, an accident by its three levels. */
export async function trickle(baseUrl: string, demo: DemoAccount, stopped: AbortSignal): Promise<void> {
  const run = Date.now().toString(36);
  const send = (connection: number, ...records: object[]) =>
    request(`${baseUrl}/ingest`, {
      method: 'POST',
      headers: {
        'x-api-key': demo.connections[connection]?.ingestKey ?? '',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ records }),
    });
  const vehicles = [1, 2, 3, 4, 5].map((number) => ({
    kind: 'vehicle',
    sourceId: `demo-${number}`,
    name: `Truck ${number}`,
    vin: `1FUJGLDR5CLBP883${number}`,
    groups: [pick(['North', 'South'])],
  }));
  await Promise.all([send(0, ...vehicles), send(1, ...vehicles)]);
  for (let turn = 0; !stopped.aborted; turn++) {
    const connection = turn % 2;
    if (turn >= 1 && turn <= 3) await send(0, accident(run, turn, vehicles[0]?.vin ?? ''));
    else
      await send(connection, {
        kind: 'safetyEvent',
        sourceId: `demo-${run}-${turn}`,
        vehicle: pick(vehicles).sourceId,
        incidentTypes: [pick(incidents)[connection]],
        startedAt: new Date().toISOString(),
        location: { latitude: 39.7 + Math.random() / 10, longitude: -105 + Math.random() / 10 },
        recipients: ['safety@demo.example'],
      });
    await new Promise((on) => setTimeout(on, turn < 4 ? 2000 : 8000));
  }
}

const accident = (run: string, level: number, vin: string) => ({
  kind: 'accident',
  sourceId: `demo-${run}`,
  vin,
  eventTime: new Date().toISOString(),
  location: { latitude: 39.7392, longitude: -104.9903 },
  notificationLevel: level,
});
