import { setTimeout as wait } from 'node:timers/promises';
import { fakeSamsara, type SamsaraData, samsaraEvent, samsaraVehicle } from '../../dev/fakes/samsara.ts';
import { recordId } from '../../platform/db/ids.ts';
import { minuteMs } from '../../platform/durations.ts';
import { listen, servedBy, startReceiver } from '../local/receiver.ts';
import { operatorOf } from '../operate/client.ts';
import { newAccount } from './account.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { percentile } from './table.ts';

const perAccount = 50;

/** An event must be delivered within this of being at the provider. */
const maxSeconds = 90;

/** From an event at a provider to its delivery, when connections are pulled each minute and the provider calls nobody. */
export const pulls: Benchmark = {
  about: 'how soon events at a provider are delivered when 1,000 connections are pulled',
  run: async ({ small, stack: start }) => {
    const { connections, minutes, minute, everyMs, latencyMs } = small
      ? { connections: 10, minutes: 1, minute: 1500, everyMs: 500, latencyMs: 50 }
      : { connections: 1000, minutes: 4, minute: minuteMs, everyMs: 200, latencyMs: 200 };
    const stack = await start();
    const fleets = Array.from({ length: connections }, (_, i) => fleet(i));
    const byToken = new Map(fleets.map((data) => [`Bearer ${data.token}`, fakeSamsara(data)]));
    let calls = 0;
    const serve = async (request: Request): Promise<Response> => {
      calls++;
      await wait(latencyMs);
      const fake = byToken.get(request.headers.get('authorization') ?? '');
      return fake?.(request) ?? new Response(null, { status: 401 });
    };
    const provider = await listen(stack.certificates, 0, servedBy(serve));
    const happened = new Map<string, number>();
    const seconds: number[] = [];
    const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
      const id = String(body.data.eventId);
      const at = happened.get(id);
      if (at !== undefined && happened.delete(id)) seconds.push((Date.now() - at) / 1000);
    });
    const ids = await connectAll(stack, fleets, provider.url, receiver.url);
    const minuteStrikes = async () => {
      if (small) await stack.fill(1, 'update pulls set due_at = 1 where due_at is not null'); // it has no minute
      await stack.minute();
    };
    // The history of each is loaded, and each is pulled once.
    await minuteStrikes();
    await wait(minute);
    calls = 0;
    for (let passed = 0; passed < minutes; passed++) {
      await minuteStrikes();
      for (let n = 0; n < minute / everyMs; n++) {
        const i = Math.floor(Math.random() * connections);
        const event = samsaraEvent(fleets[i]?.vehicles[0] ?? {}, 'Braking', Date.now());
        fleets[i]?.events.push(event);
        happened.set(recordId(ids[i] ?? '', 'safetyEvent', String(event.id)), Date.now());
        await wait(everyMs);
      }
    }
    for (const last = Date.now(); happened.size > 0 && Date.now() - last < 2 * minuteMs; ) {
      await minuteStrikes();
      await wait(minute / 6);
    }
    receiver.stop();
    provider.stop();
    const [p50, p99] = [percentile(seconds, 0.5), percentile(seconds, 0.99)];
    const met = happened.size === 0 && p99 <= maxSeconds;
    return [
      {
        title: `Seconds from an event at a provider that takes ${latencyMs} ms to its delivery, connections being pulled each minute; bar: p99 at most ${maxSeconds}`,
        rows: [
          {
            connections,
            events: seconds.length,
            'never delivered': happened.size,
            p50: p50.toFixed(1),
            p99: p99.toFixed(1),
            'calls of the provider a minute': Math.round(calls / minutes),
            met,
          },
        ],
      },
    ];
  },
};

const fleet = (i: number): SamsaraData => ({
  organisation: `Fleet ${i}`,
  token: `samsara_api_bench_${i}`,
  vehicles: [samsaraVehicle(i)],
  drivers: [],
  trips: [],
  events: [],
});

/** Connects them all, fifty to an account, with a webhook for each account. Returns their ids. */
async function connectAll(stack: BenchStack, fleets: SamsaraData[], baseUrl: string, url: string) {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const ids: string[] = [];
  for (let at = 0; at < fleets.length; at += perAccount) {
    const us = await newAccount(stack);
    const connectionIds: string[] = [];
    for (const { token: credential } of fleets.slice(at, at + perAccount)) {
      const connection = { provider: 'samsara', credential, baseUrl, historyDays: 0 };
      connectionIds.push(
        (await operator.call('POST /accounts/:id/connections', { id: us.id, body: connection })).id,
      );
    }
    await us.webhooks([url], { connectionIds });
    ids.push(...connectionIds);
  }
  return ids;
}
