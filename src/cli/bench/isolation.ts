import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { percentile, report } from './report.ts';
import { newAccount } from './setting.ts';
import { benchStack } from './stack.ts';

/** How often all is done, on a stack of its own each time; and of how many events, how far apart. */
type Size = { healthy: number; repeats: number; rounds: number; everyMs: number };
type Arrival = { phase: string; ms: number };

/**
 * Measures how receivers that hang affect the others: the time from the ingest call to each healthy receiver,
 * with none, one and five receivers that never reply, before their circuits open and after.
 */
export async function benchIsolation(
  json: boolean,
  { healthy, repeats, rounds, everyMs }: Size,
): Promise<void> {
  const times = new Map<string, number[]>();
  // By turns, because how busy a machine is changes from minute to minute.
  for (const hung of Array.from({ length: repeats }, () => [0, 1, 5]).flat()) {
    const { stack } = await benchStack('isolation');
    try {
      const arrivals = await run(stack, healthy, hung, rounds, everyMs);
      for (const phase of hung === 0 ? ['after'] : ['before', 'after']) {
        const name = hung === 0 ? 'none hung' : `${hung} hung, ${phase} the circuits open`;
        const taken = arrivals.filter((arrival) => arrival.phase === phase).map(({ ms }) => ms);
        times.set(name, [...(times.get(name) ?? []), ...taken]);
      }
    } finally {
      await stack.stop();
    }
  }
  const base = percentile(times.get('none hung') ?? [], 0.99);
  report(
    `Delivery to ${healthy} healthy receivers, one event every ${everyMs} ms; ms from the ingest call`,
    ['', 'deliveries', 'p50', 'p99', 'p99 / none hung'],
    [...times].map(([name, all]) => {
      const p99 = percentile(all, 0.99);
      return [name, all.length, percentile(all, 0.5), p99, (p99 / base).toFixed(2)];
    }),
    json,
  );
}

async function run(stack: Stack, healthy: number, hung: number, rounds: number, everyMs: number) {
  const { id, connection, token, ingestKey } = await newAccount(stack);
  const api = (credential: string, route: string, body: object) =>
    request(stack.baseUrl + route, {
      method: 'POST',
      headers: { 'x-api-key': credential, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const arrivals: Arrival[] = [];
  let phase = hung > 0 ? 'before' : 'after';
  const receiver = await startReceiver(stack.certificates, 0, ({ path, body }) => {
    if (path.startsWith('/hung')) return new Promise(() => {});
    const [sent] = body.data.vehicleGroups as string[]; // when the event was sent, as the vehicle's group says
    return arrivals.push({ phase, ms: Date.now() - Number(sent) });
  });
  const names = [
    ...Array.from({ length: healthy }, (_, i) => `fine/${i}`),
    ...Array.from({ length: hung }, (_, i) => `hung/${i}`),
  ];
  for (const name of names)
    await api(token, '/webhook', {
      connectionIds: [connection],
      url: `${receiver.url}/${name}`,
      httpVerb: 'POST',
      notificationTypes: [2],
    });

  let events = 0;
  const event = () => {
    const now = Date.now();
    return api(ingestKey, '/ingest', {
      records: [
        { kind: 'vehicle', sourceId: `v${events}`, name: 'V', groups: [String(now)] },
        {
          kind: 'safetyEvent',
          sourceId: `e${events}`,
          vehicle: `v${events++}`,
          incidentTypes: ['crash'],
          startedAt: new Date(now).toISOString(),
        },
      ],
    });
  };
  const load = async () => {
    for (let round = 0; round < rounds; round++) {
      await event();
      await wait(everyMs);
    }
  };
  await event(); // warm
  await wait(1000);
  arrivals.length = 0;
  if (hung > 0) {
    await load();
    const allOpen = async () => {
      const hooks = await operatorOf(stack.baseUrl, stack.operatorKey).get<
        { url: string; openUntil: string | null }[]
      >(`/accounts/${id}/webhooks`);
      return hooks.filter(({ url }) => url.includes('/hung')).every(({ openUntil }) => openUntil);
    };
    while (!(await allOpen())) {
      await event();
      await stack.minute();
      await wait(2000);
    }
    await wait(1000);
    phase = 'after';
  }
  await load();
  await wait(3000);
  receiver.stop();
  return arrivals;
}
