import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { dayMs } from '../../core/platform/durations.ts';
import { demoSignIn } from '../demo/account.ts';
import { startReceiver } from '../local/receiver.ts';
import { operatorOf, request } from '../operate/client.ts';
import { newAccount, newEvents, safetyEvent, vehicle } from './account.ts';
import { file, requestsPerSecond } from './counter.ts';
import { type Benchmark, type BenchStack, percentile } from './harness.ts';

const kinds = ['lists', 'ingest', 'deliveries'] as const;

/** A well-behaved account's p95 of each kind beside each attack, and before; the figure is the worst ratio. */
export const neighbours: Benchmark = async function* ({ small, stack: start }) {
  const size = small
    ? { seconds: 0.5, webhooks: 5, perCall: 20, calls: 2 }
    : { seconds: 10, webhooks: 1000, perCall: 500, calls: 40 };
  let most = 0;
  for (const [attack, prepare] of Object.entries(attacks)) {
    const stack = await start({ rateLimits: !small }); // a small run goes on with the stack of the others
    most ||= await requestsPerSecond(stack.baseUrl + file, {}, 100 * size.seconds);
    const live = await startNeighbour(stack);
    // A share of the capacity, so that slow machines are comparable.
    const { perSecond, act } = await prepare(stack, { ...size, hammering: most / 4 });
    const alone = await live(size.seconds);
    let failed = 0;
    const attacking = paced(perSecond, size.seconds, () => act().catch(() => failed++));
    const beside = await live(size.seconds);
    await attacking;
    if (beside.lost > 0) throw new Error(`${attack}: ${beside.lost} events were lost`);
    const times = (of: typeof alone) => kinds.map((kind) => percentile(of[kind], 0.95));
    const [before, during] = [times(alone), times(beside)];
    const shown = (ms: number[]) => `${ms.map((one) => one.toFixed(0)).join(', ')} ms`;
    const what = `beside ${attack}${failed > 0 ? ` (${failed} calls failed)` : ''}`;
    yield {
      ...{ what, reference: shown(before), service: shown(during), bar: '≤ 3' },
      figure: Math.max(...during.map((ms, i) => ms / (before[i] ?? 0))).toFixed(2),
    };
  }
};

/** Starts `work` so many times a second, whether or not the last has ended, and waits for all. */
async function paced(
  perSecond: number,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const start = performance.now();
  for (
    let next = start;
    next < start + seconds * 1000;
    next = start + (begun.length * 1000) / perSecond
  ) {
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
  let found = { lists: [] as number[], ingest: [] as number[], deliveries: [] as number[] };
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
        // refused, or failed
      }
  };
  const list = () => timed('lists', () => request(`${stack.baseUrl}/vehicles?limit=50`, us));
  const ingest = () => {
    const name = `n${names++}`;
    awaited.set(name, performance.now());
    return timed('ingest', () => us.ingest([vehicle(name), safetyEvent(name)]));
  };
  const live = async (seconds: number) => {
    found = { lists: [], ingest: [], deliveries: [] };
    await Promise.all([paced(8, seconds, list), paced(4, seconds, ingest)]); // a token may make 10 calls a second
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { ...found, lost: awaited.size };
  };
  await live(0.5); // warm
  return live;
}

let names = 0;

type Size = { [what in 'seconds' | 'webhooks' | 'perCall' | 'calls' | 'hammering']: number };

type Attack = { perSecond: number; act: () => Promise<unknown> };

/** Things a caller does that may affect others, each prepared without measuring. */
const attacks: { [name: string]: (stack: BenchStack, size: Size) => Promise<Attack> } = {
  'bad tokens': async ({ baseUrl }, { hammering: perSecond }) => ({
    perSecond,
    act: () => {
      const random = `fds_${randomBytes(32).toString('base64url')}`; // well-formed, but nobody issued it
      const check = Buffer.alloc(4);
      check.writeUInt32BE(crc32(random));
      return get(`${baseUrl}/vehicles`, { 'x-api-key': random + check.toString('base64url') });
    },
  }),
  'a flood of events for a slow receiver': async (stack, { perCall, calls, seconds }) => {
    const us = await newAccount(stack);
    await us.webhooks([(await stack.receiver(5000)).url]);
    return { perSecond: calls / seconds, act: () => us.ingest(newEvents(perCall)) };
  },
  'a year of old days for the archive': async (stack, { perCall, calls, seconds }) => {
    const us = await newAccount(stack);
    const last = Date.now() - 200 * dayMs; // no longer hot
    const startedAt = (i: number) => new Date(last - (i % 365) * dayMs).toISOString();
    for (let call = 0; call < calls / 4; call++)
      await us.ingest(
        newEvents(perCall).map((event, i) => ({ ...event, startedAt: startedAt(i) })),
      );
    return { perSecond: 1 / seconds, act: () => stack.minute(0) }; // a full hour
  },
  '1,000 webhooks that catch up after an outage': async (stack, { webhooks, seconds }) => {
    const us = await newAccount(stack);
    const ids = await us.webhooks(manyOf((await stack.receiver()).url, webhooks));
    return { perSecond: 1 / seconds, act: await us.pileUp(ids, 10) };
  },
  'the largest list of webhooks': async (stack, { webhooks }) => {
    const us = await newAccount(stack);
    await us.webhooks(manyOf(`https://receiver.example.com/${'a'.repeat(1400)}`, webhooks));
    return { perSecond: 5, act: () => get(`${stack.baseUrl}/webhooks`, us.headers, 200) };
  },
  'overviews of a large account': async (stack, { perCall, calls }) => {
    const us = await newAccount(stack);
    for (let call = 0; call < calls; call++) await us.ingest(newEvents(perCall));
    const link = await demoSignIn(operatorOf(stack), us.id, 'attacker@fleet.example');
    const headers = { origin: new URL(link).origin }; // as a browser says it
    const signedIn = await fetch(link, { method: 'POST', headers, redirect: 'manual' });
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
    return { perSecond: 6, act: () => get(`${stack.baseUrl}/portal`, { cookie }, 200) };
  },
};

const manyOf = (url: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${url}/${i}`);

/** Calls an address; without a `status`, whatever it returns. */
async function get(url: string, headers: Record<string, string>, status?: number): Promise<void> {
  const reply = await fetch(url, { headers, redirect: 'manual' });
  await reply.arrayBuffer();
  if (status && reply.status !== status) throw new Error(`${url} returned ${reply.status}`);
}
