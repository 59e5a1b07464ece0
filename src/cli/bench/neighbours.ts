import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { dayMs } from '../../core/platform/durations.ts';
import { demoSignIn } from '../demo/account.ts';
import { startReceiver } from '../local/receiver.ts';
import { operatorOf } from '../operate/client.ts';
import { newAccount, newEvents, safetyEvent, vehicle } from './account.ts';
import { type Benchmark, file, get, percentile, requestsPerSecond, type Stack } from './harness.ts';

/** A well-behaved account's p95 of lists, ingest calls and deliveries, before and beside each attack. The figure is the worst ratio. */
export const neighbours: Benchmark = async function* ({ small, stack: start }) {
  const size = small
    ? { seconds: 0.5, webhooks: 5, perCall: 20, calls: 2 }
    : { seconds: 10, webhooks: 1000, perCall: 500, calls: 40 };
  for (const [attack, prepare] of Object.entries(attacks)) {
    const stack = await start({ rateLimits: attack === 'bad tokens' });
    const live = await startNeighbour(stack);
    const { perSecond, act } = await prepare(stack, size);
    const before = await live(size.seconds);
    let failed = 0;
    const attacking = paced(perSecond, size.seconds, () => act().catch(() => failed++));
    const during = await live(size.seconds);
    await attacking;
    const shown = (ms: number[]) => `${ms.map((one) => one.toFixed(0)).join(', ')} ms`;
    const what = `beside ${attack}${failed > 0 ? ` (${failed} calls failed)` : ''}`;
    const figure = Math.max(...during.map((ms, i) => ms / (before[i] ?? 0))).toFixed(2);
    yield { what, reference: shown(before), service: shown(during), figure, bar: '≤ 3' };
  }
};

/** Starts `work` so many times a second, whether or not the last has ended, and waits for all. */
async function paced(perSecond: number, seconds: number, work: () => Promise<unknown>) {
  const begun: Promise<unknown>[] = [];
  const start = performance.now();
  for (let at = start; at < start + seconds * 1000; at += 1000 / perSecond) {
    await wait(Math.max(0, at - performance.now()));
    begun.push(work());
  }
  await Promise.all(begun);
}

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

let names = 0;

/** Opens a well-behaved account. Returns how it lives for some seconds: its p95, if nothing was lost. */
async function startNeighbour(stack: Stack) {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by its vehicle's name. */
  const awaited = new Map<string, number>();
  let took = { lists: [] as number[], ingest: [] as number[], deliveries: [] as number[] };
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) took.deliveries.push(performance.now() - sent);
  });
  stack.closing.push(receiver);
  await us.webhooks([receiver.url]);

  /** Times a call. One that is refused or fails took as long as possible. */
  const timed = async (times: number[], call: () => Promise<unknown>) => {
    const began = performance.now();
    const ended = () => performance.now() - began;
    times.push(await call().then(ended, () => timeoutMs));
  };
  const list = () =>
    timed(took.lists, () => get(`${stack.baseUrl}/vehicles?limit=50`, us.headers, 200));
  const ingest = () => {
    const name = `n${names++}`;
    awaited.set(name, performance.now());
    return timed(took.ingest, () => us.ingest([vehicle(name), safetyEvent(name)]));
  };
  const live = async (seconds: number) => {
    took = { lists: [], ingest: [], deliveries: [] };
    await Promise.all([paced(8, seconds, list), paced(4, seconds, ingest)]); // a token may make 10 calls a second
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    if (awaited.size > 0) throw new Error(`${awaited.size} events were lost`);
    return Object.values(took).map((times) => percentile(times, 0.95));
  };
  await live(0.5); // warm
  return live;
}

type Size = { [what in 'seconds' | 'webhooks' | 'perCall' | 'calls']: number };

type Attack = { perSecond: number; act: () => Promise<unknown> };

/** Things a caller does that may affect others, each prepared without measuring. */
const attacks: { [name: string]: (stack: Stack, size: Size) => Promise<Attack> } = {
  'bad tokens': async ({ baseUrl }, { seconds }) => ({
    // A share of the capacity, so that slow machines are comparable.
    perSecond: (await requestsPerSecond(baseUrl + file, {}, 100 * seconds)) / 4,
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
