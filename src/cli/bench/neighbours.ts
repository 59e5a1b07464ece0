import { setTimeout as wait } from 'node:timers/promises';
import { runtimeMemory } from '../local/memory.ts';
import { startReceiver } from '../local/receiver.ts';
import { request } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';
import { type Attack, type AttackSize, attacks } from './attacks.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { percentile } from './table.ts';

/** How much of the runtime's capacity hammering takes, so that slow machines are comparable. */
const hammeringShare = 0.25;

/** A neighbour's p99 during an attack may be this many times its p99 alone. */
const maxRatio = 3;

/** A neighbour's times alone and during each attack, in the same run on the same stack, with the service's limits. */
export const neighbours: Benchmark = {
  about: 'what a well-behaved account notices of others that are not',
  run: async ({ small, stack: start }) => {
    const size = small
      ? { seconds: 0.5, webhooks: 5, eventsPerCall: 20, floodCalls: 2 }
      : { seconds: 30, webhooks: 1000, eventsPerCall: 500, floodCalls: 100 };
    const times = [];
    const effects = [];
    let most = 0;
    for (const attack of attacks) {
      const stack = await start({ rateLimits: !small }); // a small run goes on with the stack of the others
      most ||= await mostPerSecond(stack, Math.min(5, size.seconds));
      const found = await suffer(stack, attack, { ...size, perSecond: hammeringShare * most });
      const { alone, beside, did, idleMb, peakMb } = found;
      for (const kind of ['lists', 'ingest', 'deliveries'] as const) {
        const row: { [column: string]: string } = { attack: attack.name, '': kind };
        const [before, during] = [alone.times[kind], beside.times[kind]];
        for (const [name, share] of [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const) {
          row[`alone ${name}`] = percentile(before, share).toFixed(1);
          row[`beside ${name}`] = percentile(during, share).toFixed(1);
          row[`${name} ratio`] = (percentile(during, share) / percentile(before, share)).toFixed(2);
        }
        times.push({ ...row, met: Number(row['p99 ratio']) <= maxRatio });
      }
      effects.push({
        attack: attack.name,
        did,
        refused: beside.refused,
        'MB alone': Math.round(idleMb),
        'MB at most': Math.round(peakMb),
        lost: beside.lost,
        met: beside.lost === 0,
      });
    }
    const bar = `p99 at most ${maxRatio} times; up to ${Math.round(most)} requests a second`;
    return [
      { title: `A well-behaved account alone and beside each attack, ms; bar: ${bar}`, rows: times },
      {
        title: 'What the attacker did, what the neighbour was refused and lost, and the memory',
        rows: effects,
      },
    ];
  },
};

/** Runs one attack, and a neighbour before and beside it. */
async function suffer(stack: BenchStack, { prepare, perSecond }: Attack, size: AttackSize) {
  const live = await startNeighbour(stack);
  const act = await prepare(stack, size);
  const alone = await live(size.seconds);
  const idleMb = await runtimeMemory(stack.directory);
  let peakMb = idleMb;
  const watch = setInterval(async () => {
    peakMb = Math.max(peakMb, await runtimeMemory(stack.directory).catch(() => 0));
  }, 250);
  const outcomes: (number | string)[] = [];
  const attacking = paced(perSecond(size), size.seconds, async () => {
    outcomes.push(await act().catch((error: Error) => error.message));
  });
  const beside = await live(size.seconds);
  await attacking;
  clearInterval(watch);
  const did = [...Map.groupBy(outcomes, (outcome) => outcome)]
    .map(([outcome, { length }]) => `${length} × ${outcome}`)
    .join(', ');
  return { alone, beside, did, idleMb, peakMb };
}

/** How many requests a second the runtime serves at most: files, without the Worker. */
async function mostPerSecond({ baseUrl }: BenchStack, seconds: number): Promise<number> {
  let served = 0;
  const until = Date.now() + seconds * 1000;
  const client = async () => {
    for (; Date.now() < until; served++) await (await fetch(`${baseUrl}/portal/portal.js`)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 10 }, client));
  return served / seconds;
}

/** Starts `work` so many times a second for some seconds, whether or not the last has ended, and waits for all of it. */
async function paced(perSecond: number, seconds: number, work: () => Promise<unknown>): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const start = performance.now();
  for (let next = start; next < start + seconds * 1000; next = start + (begun.length * 1000) / perSecond) {
    await wait(Math.max(0, next - performance.now()));
    begun.push(work());
  }
  await Promise.all(begun);
}

/** Well below the limit of a token, 10 a second. */
const listsPerSecond = 8;
const eventsPerSecond = 4;

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

/**
 * Opens a well-behaved account, which reads lists, sends events, and receives them. Returns how it lives for some
 * seconds: the milliseconds of its calls and of its deliveries from their ingest call, its refused calls, and the
 * events that never arrived.
 */
async function startNeighbour(stack: BenchStack) {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by its vehicle's name. */
  const awaited = new Map<string, number>();
  const nothing = () => ({ lists: [] as number[], ingest: [] as number[], deliveries: [] as number[] });
  let times = nothing();
  let events = 0;
  let refused = 0;
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) times.deliveries.push(performance.now() - sent);
  });
  stack.closing.push(receiver);
  await us.webhooks([receiver.url]);

  /** Repeats a call until it is accepted, as every client should; a refusal makes it that much slower. */
  const timed = async (kind: 'lists' | 'ingest', call: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000))
      try {
        await call();
        times[kind].push(performance.now() - began);
        return;
      } catch {
        refused++;
      }
  };
  const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
  const list = () => timed('lists', () => request(`${stack.baseUrl}/vehicles?limit=50`, { headers }));
  const ingest = () => {
    const name = `n${events++}`;
    awaited.set(name, performance.now());
    return timed('ingest', () => us.ingest([vehicle(name), safetyEvent(name)]));
  };
  const live = async (seconds: number) => {
    times = nothing();
    refused = 0;
    await Promise.all([paced(listsPerSecond, seconds, list), paced(eventsPerSecond, seconds, ingest)]);
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { times, refused, lost: awaited.size };
  };
  await live(0.5); // warm
  return live;
}
