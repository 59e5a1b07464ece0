import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import autocannon from 'autocannon';
import { dayMs } from '../../platform/durations.ts';
import { maxChannels } from '../../webhooks/alerts/channel-input.ts';
import { demoSignIn } from '../demo/account.ts';
import { startReceiver } from '../local/receiver.ts';
import { operatorOf, request } from '../operate/client.ts';
import { newAccount, pileUp, safetyEvent, vehicle } from './account.ts';
import { type Benchmark, type BenchStack, percentile, type TableRow } from './harness.ts';

/** A neighbour's p99 during an attack may be this many times its p99 alone. */
const maxRatio = 3;

const kinds = ['lists', 'ingest', 'deliveries'] as const;

/** A neighbour's times alone and during each attack, in one run on one stack. */
export const neighbours: Benchmark = {
  about: 'what a well-behaved account notices of others that are not',
  run: async ({ small, stack: start }) => {
    const size = small
      ? { seconds: 0.5, webhooks: 5, eventsPerCall: 20, floodCalls: 2 }
      : { seconds: 30, webhooks: 1000, eventsPerCall: 500, floodCalls: 100 };
    const rows: TableRow[] = [];
    let most = 0;
    for (const [attack, prepare] of Object.entries(attacks)) {
      const stack = await start({ rateLimits: !small }); // a small run goes on with the stack of the others
      const url = `${stack.baseUrl}/portal/portal.js`; // a file, without the Worker
      most ||= (await autocannon({ url, duration: Math.ceil(size.seconds / 6) })).requests.average;
      const live = await startNeighbour(stack);
      // A share of the capacity, so that slow machines are comparable.
      const { perSecond, act } = await prepare(stack, { ...size, perSecond: most / 4 });
      const alone = await live(size.seconds);
      const outcomes: (number | string)[] = [];
      const attacking = paced(perSecond, size.seconds, async () => {
        outcomes.push(await act().catch((error: Error) => error.message));
      });
      const { refused, lost, ...beside } = await live(size.seconds);
      await attacking;
      const ratios = kinds.map((kind) => percentile(beside[kind], 0.99) / percentile(alone[kind], 0.99));
      const groups = [...Map.groupBy(outcomes, (outcome) => outcome)];
      rows.push({
        attack,
        ...Object.fromEntries(kinds.map((kind, i) => [kind, ratios[i]?.toFixed(2) ?? ''])),
        did: groups.map(([outcome, { length }]) => `${length} × ${outcome}`).join(', '),
        ...{ refused, lost, met: lost === 0 && Math.max(...ratios) <= maxRatio },
      });
    }
    const bar = `bar: at most ${maxRatio}, nothing lost; up to ${Math.round(most)} requests a second`;
    return [
      { title: `A well-behaved account's p99 beside each attack, in multiples of its own; ${bar}`, rows },
    ];
  },
};

/** Starts `work` so many times a second, whether or not the last has ended, and waits for all. */
async function paced(perSecond: number, seconds: number, work: () => Promise<unknown>): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const start = performance.now();
  for (let next = start; next < start + seconds * 1000; next = start + (begun.length * 1000) / perSecond) {
    await wait(Math.max(0, next - performance.now()));
    begun.push(work());
  }
  await Promise.all(begun);
}

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

/** Opens a well-behaved account. Returns how it lives for some seconds, and what it lost. */
async function startNeighbour(stack: BenchStack) {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by its vehicle's name. */
  const awaited = new Map<string, number>();
  const nothing = { lists: [] as number[], ingest: [] as number[], deliveries: [] as number[], refused: 0 };
  let found = structuredClone(nothing);
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) found.deliveries.push(performance.now() - sent);
  });
  stack.closing.push(receiver);
  await us.webhooks([receiver.url]);

  /** Repeats a call until it is accepted, as clients should: a refusal makes it slower. */
  const timed = async (kind: 'lists' | 'ingest', call: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000))
      try {
        await call();
        return void found[kind].push(performance.now() - began);
      } catch {
        found.refused++;
      }
  };
  const list = () => timed('lists', () => request(`${stack.baseUrl}/vehicles?limit=50`, us));
  const ingest = () => {
    const name = `n${events++}`;
    awaited.set(name, performance.now());
    return timed('ingest', () => us.ingest([vehicle(name), safetyEvent(name)]));
  };
  const live = async (seconds: number) => {
    found = structuredClone(nothing);
    await Promise.all([paced(8, seconds, list), paced(4, seconds, ingest)]); // a token may make 10 calls a second
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { ...found, lost: awaited.size };
  };
  await live(0.5); // warm
  return live;
}

type Size = { [what in 'seconds' | 'webhooks' | 'eventsPerCall' | 'floodCalls' | 'perSecond']: number };

type Attack = { perSecond: number; act: () => Promise<number | string> };

/** Things a caller does that may affect others, each prepared without measuring. */
export const attacks: { [name: string]: (stack: BenchStack, size: Size) => Promise<Attack> } = {
  'junk session cookies': async ({ baseUrl }, { perSecond }) => ({
    perSecond,
    act: () => get(`${baseUrl}/portal/webhooks`, { cookie: `session=${junk()}` }),
  }),
  'bad tokens': async ({ baseUrl }, { perSecond }) => ({
    perSecond,
    act: () => {
      const random = `fds_${junk()}`; // well-formed, but nobody issued it
      const check = Buffer.alloc(4);
      check.writeUInt32BE(crc32(random));
      return get(`${baseUrl}/vehicles`, { 'x-api-key': random + check.toString('base64url') });
    },
  }),
  'huge pages': async (stack, { eventsPerCall }) => {
    const groups = [...'abcdefghijklmnopqrst'].map((name) => name.repeat(11));
    const us = await attacker(stack, [vehicle('v', groups), ...eventsOf(eventsPerCall - 1)]);
    const url = `${stack.baseUrl}/safety-events?from=2026-11-01&to=2100-01-01&limit=500`;
    return { perSecond: 5, act: () => get(url, us.headers) };
  },
  'a flood of events for a slow receiver': async (stack, { eventsPerCall, floodCalls, seconds }) => {
    const us = await attacker(stack);
    await us.webhooks([(await stack.receiver(5000)).url]);
    const act = async () => `${(await us.ingest(eventsOf(eventsPerCall))).accepted} events`;
    return { perSecond: floodCalls / seconds, act };
  },
  'the largest ingest call': async (stack, { webhooks, eventsPerCall, seconds }) => {
    const us = await attacker(stack);
    const { url } = await stack.receiver();
    await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${url}/${i}`));
    const act = async () =>
      `${(await us.ingest(eventsOf(eventsPerCall))).accepted} records for ${webhooks} webhooks`;
    return { perSecond: 1 / seconds, act };
  },
  'team channels that are notified of every event': async (stack, { eventsPerCall, floodCalls, seconds }) => {
    const us = await attacker(stack);
    const { url } = await stack.receiver(1000);
    const body = { kind: 'https', url, minEventRisk: 1 } as const;
    for (let i = 0; i < maxChannels; i++)
      await operatorOf(stack).call('POST /accounts/:id/channels', {
        ...{ id: us.id, body: { ...body, name: `Channel ${i}` } },
      });
    let minute: typeof stack.minute | undefined = stack.minute;
    const act = async () => {
      const first = minute;
      minute = undefined;
      const { accepted } = await us.ingest(eventsOf(eventsPerCall, { eventRisk: 3 }));
      await first?.();
      return `${accepted} events`;
    };
    return { perSecond: floodCalls / seconds, act };
  },
  'a year of old days for the archive': async (stack, { eventsPerCall, floodCalls, seconds }) => {
    const us = await attacker(stack);
    const last = Date.now() - 200 * dayMs; // no longer hot
    const days = Math.min(365, eventsPerCall);
    const dayOf = (i: number) => ({ startedAt: new Date(last - (i % days) * dayMs).toISOString() });
    for (let call = 0; call < floodCalls / 10; call++)
      await us.ingest(eventsOf(eventsPerCall).map((event, i) => ({ ...event, ...dayOf(i) })));
    const act = async () => {
      await stack.minute(0); // a full hour
      return 'run of 30 s at most';
    };
    return { perSecond: 1 / seconds, act };
  },
  'webhooks of five accounts that catch up after an outage': async (stack, { webhooks, seconds }) => {
    const { url } = await stack.receiver();
    const urls = Array.from({ length: webhooks }, (_, i) => `${url}/${i}`);
    for (let account = 0; account < 5; account++) {
      const us = await attacker(stack);
      await us.webhooks(urls);
      await pileUp(stack, us, 10, webhooks);
    }
    const act = async () => {
      await stack.call('/bench/wake');
      return `${5 * webhooks} webhooks`;
    };
    return { perSecond: 1 / seconds, act };
  },
  'the largest list of webhooks': async (stack, { webhooks }) => {
    const us = await attacker(stack);
    const url = `https://receiver.example.com/${'a'.repeat(1400)}`;
    await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${url}/${i}`));
    return { perSecond: 5, act: () => get(`${stack.baseUrl}/webhooks`, us.headers) };
  },
  'overviews of a large account': async (stack, { eventsPerCall, floodCalls }) => {
    const us = await attacker(stack);
    for (let call = 0; call < floodCalls; call++) await us.ingest(eventsOf(eventsPerCall));
    const link = await demoSignIn(operatorOf(stack), us.id, 'attacker@fleet.example');
    const headers = { origin: new URL(link).origin }; // as a browser says it
    const signedIn = await fetch(link, { method: 'POST', headers, redirect: 'manual' });
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
    return { perSecond: 6, act: () => get(`${stack.baseUrl}/portal`, { cookie }) };
  },
};

const junk = () => randomBytes(32).toString('base64url');

async function attacker(stack: BenchStack, records: object[] = [vehicle('v')]) {
  const us = await newAccount(stack);
  await us.ingest(records);
  return us;
}

let events = 0;

const eventsOf = (count: number, more: object = {}) =>
  Array.from({ length: count }, () => ({ ...safetyEvent('v', `e${events++}`), ...more }));

async function get(url: string, headers: Record<string, string>): Promise<number> {
  const reply = await fetch(url, { headers, redirect: 'manual' });
  await reply.arrayBuffer();
  return reply.status;
}
