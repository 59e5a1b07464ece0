import { setTimeout as wait } from 'node:timers/promises';
import { fakeSamsara, type SamsaraData, samsaraEvent, samsaraVehicle } from '../../dev/fakes/samsara.ts';
import { recordId } from '../../platform/db/ids.ts';
import { listen } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { machine, percentile, report } from './report.ts';
import { newAccount } from './setting.ts';
import { benchStack } from './stack.ts';

/** How many connections pull, for how long, how often something happens, and how long the provider takes to answer. */
export type PullSize = { connections: number; minutes: number; everyMs: number; latencyMs: number };

const perAccount = 50;
const minuteMs = 60_000;

/** An event must be told within this of being at the provider. */
const maxFreshMs = 90_000;

/**
 * Measures how long it takes from an event at a provider to its delivery, when many connections are pulled each minute and
 * no webhook of the provider rings. Prints a table, and returns whether p99 is within 90 s.
 */
export async function benchPulls(json: boolean, size: PullSize): Promise<boolean> {
  const { connections, minutes, everyMs, latencyMs } = size;
  const { stack } = await benchStack('pulls');
  const fleets = Array.from({ length: connections }, (_, i) => fleet(i));
  const byToken = new Map(fleets.map((data) => [`Bearer ${data.token}`, fakeSamsara(data)]));
  let calls = 0;
  const provider = await listen(stack.certificates, 0, async (incoming, response) => {
    calls++;
    const authorization = incoming.headers.authorization ?? '';
    await wait(latencyMs);
    const reply = await byToken.get(authorization)?.(
      new Request(`https://localhost${incoming.url}`, { headers: { authorization } }),
    );
    response.writeHead(reply?.status ?? 500).end(await reply?.text());
  });
  const happened = new Map<string, number>();
  const freshness: number[] = [];
  const receiver = await listen(stack.certificates, 0, async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const { eventId } = (JSON.parse(text) as { data: { eventId: string } }).data; // as the service sends it
    const at = happened.get(eventId);
    if (at !== undefined) freshness.push(Date.now() - at);
    happened.delete(eventId);
    response.writeHead(204).end();
  });
  try {
    const ids = await connectAll(stack, fleets, { provider: provider.url, receiver: receiver.url });
    // The history of each is loaded, and each is pulled once.
    await stack.minute();
    await wait(minuteMs);
    calls = 0;
    for (let minute = 0; minute < minutes; minute++) {
      await stack.minute();
      for (let n = 0; n < minuteMs / everyMs; n++) {
        const i = Math.floor(Math.random() * connections);
        const event = samsaraEvent(fleets[i]?.vehicles[0] ?? {}, 'Braking', Date.now());
        fleets[i]?.events.push(event);
        happened.set(recordId(ids[i] ?? '', 'safetyEvent', String(event.id)), Date.now());
        await wait(everyMs);
      }
    }
    const last = Date.now();
    while (happened.size > 0 && Date.now() - last < 2 * minuteMs) {
      await stack.minute();
      await wait(minuteMs / 6);
    }
  } finally {
    receiver.stop();
    provider.stop();
    await stack.stop();
  }
  const seconds = (share: number) => (percentile(freshness, share) / 1000).toFixed(1);
  const met = happened.size === 0 && percentile(freshness, 0.99) <= maxFreshMs;
  report(
    `Seconds from an event at a provider to its delivery, ${connections} connections that are pulled each minute, a provider that takes ${latencyMs} ms; bar: p99 at most 90; ${machine()}`,
    ['connections', 'events', 'never told', 'p50', 'p99', 'calls of the provider a minute', 'met'],
    [
      [
        connections,
        freshness.length,
        happened.size,
        seconds(0.5),
        seconds(0.99),
        Math.round(calls / minutes),
        met ? 'yes' : 'no',
      ],
    ],
    json,
  );
  return met;
}

const fleet = (i: number): SamsaraData => ({
  organisation: `Fleet ${i}`,
  token: `samsara_api_bench_${i}`,
  vehicles: [samsaraVehicle(i)],
  drivers: [],
  trips: [],
  events: [],
});

/** Connects them all, fifty to an account, with a webhook for each account. Returns their ids. */
async function connectAll(
  stack: Stack,
  fleets: SamsaraData[],
  urls: { provider: string; receiver: string },
): Promise<string[]> {
  const { baseUrl } = stack;
  const operator = operatorOf(baseUrl, stack.operatorKey);
  const ids: string[] = [];
  for (let at = 0; at < fleets.length; at += perAccount) {
    const account = await newAccount(stack);
    const connectionIds: string[] = [];
    for (const { token } of fleets.slice(at, at + perAccount)) {
      const { id } = await operator.post<{ id: string }>(`/accounts/${account.id}/connections`, {
        provider: 'samsara',
        credential: token,
        baseUrl: urls.provider,
        historyDays: 0,
      });
      connectionIds.push(id);
    }
    const body = {
      connectionIds,
      url: urls.receiver,
      httpVerb: 'POST',
      headers: {},
      notificationTypes: [1, 2],
    };
    const headers = { 'x-api-key': account.token, 'content-type': 'application/json' };
    await request(`${baseUrl}/webhook`, { method: 'POST', headers, body: JSON.stringify(body) });
    ids.push(...connectionIds);
  }
  return ids;
}
