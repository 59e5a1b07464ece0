import { setTimeout as wait } from 'node:timers/promises';
import { runtimeMemory } from '../local/memory.ts';
import { startReceiver } from '../local/receiver.ts';
import { request } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';
import { type Attack, type AttackSize, attacks, mostPerSecond, paced } from './attacks.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { percentile } from './table.ts';

/** How much of the runtime's capacity hammering takes, so that slow machines are comparable. */
const hammeringShare = 0.25;

/** A neighbour's p99 during an attack may be this many times its p99 alone. */
const maxRatio = 3;

const measures = { list: 'lists', ingest: 'ingest', delivery: 'deliveries' } satisfies Record<
  keyof Times,
  string
>;

/** A neighbour's times alone and during each attack, in the same run on the same stack, with the service's limits. */
export const neighbours: Benchmark = {
  about: 'what a well-behaved account notices of others that are not',
  run: async ({ small, stack: start }) => {
    const { seconds, ...size } = small
      ? { seconds: 0.5, webhooks: 5, eventsPerCall: 20, floodCalls: 2 }
      : { seconds: 30, webhooks: 1000, eventsPerCall: 500, floodCalls: 100 };
    const times = [];
    const effects = [];
    let most: number | undefined;
    let neighbour: Neighbour | undefined;
    for (const attack of attacks) {
      const stack = await start({ rateLimits: !small }); // a small run goes on with the stack of the others
      if (neighbour?.stack !== stack) {
        neighbour?.stop();
        neighbour = await startNeighbour(stack);
      }
      most ??= await mostPerSecond(stack, Math.min(5, seconds));
      const perSecond = hammeringShare * most;
      const found = await suffer(neighbour, attack, { ...size, perSecond }, seconds);
      const { alone, beside, did, idleMb, peakMb } = found;
      for (const [kind, name] of Object.entries(measures) as [keyof Times, string][]) {
        const [before, during] = [alone.times[kind], beside.times[kind]];
        const ratioOf = (share: number) => percentile(during, share) / percentile(before, share);
        times.push({
          attack: attack.name,
          '': name,
          'alone p50': percentile(before, 0.5).toFixed(1),
          'alone p99': percentile(before, 0.99).toFixed(1),
          'beside p50': percentile(during, 0.5).toFixed(1),
          'beside p99': percentile(during, 0.99).toFixed(1),
          'p50 ratio': ratioOf(0.5).toFixed(2),
          'p99 ratio': ratioOf(0.99).toFixed(2),
          met: ratioOf(0.99) <= maxRatio,
        });
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
    neighbour?.stop();
    return [
      {
        title: `A well-behaved account alone and beside each attack, ms; bar: p99 at most ${maxRatio} times; up to ${Math.round(most ?? 0)} requests a second`,
        rows: times,
      },
      {
        title:
          'What the attacker did, what the neighbour was refused and lost, and the memory of the runtime',
        rows: effects,
      },
    ];
  },
};

/** Runs one attack, and the neighbour before and beside it. */
async function suffer(neighbour: Neighbour, { prepare }: Attack, size: AttackSize, seconds: number) {
  const { stack } = neighbour;
  const { begin, stop } = await prepare(stack, size);
  const alone = await neighbour.live(seconds);
  const idleMb = await runtimeMemory(stack.directory);
  let peakMb = idleMb;
  const watch = setInterval(async () => {
    peakMb = Math.max(peakMb, await runtimeMemory(stack.directory).catch(() => 0));
  }, 250);
  const attacking = begin(AbortSignal.timeout(seconds * 1000));
  const beside = await neighbour.live(seconds);
  const did = await attacking;
  clearInterval(watch);
  stop?.();
  return { alone, beside, did, idleMb, peakMb };
}

/** Milliseconds of each of a phase's calls; for deliveries, from the ingest call to their arrival. */
type Times = { list: number[]; ingest: number[]; delivery: number[] };

/** A well-behaved account: it reads lists, sends events, and receives them. */
type Neighbour = {
  stack: BenchStack;
  /** Runs for some seconds. Returns its times, refused calls, and events that never arrived. */
  live: (seconds: number) => Promise<{ times: Times; refused: number; lost: number }>;
  stop: () => void;
};

/** Well below the limit of a token, 10 a second. */
const listsPerSecond = 8;
const eventsPerSecond = 4;

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

async function startNeighbour(stack: BenchStack): Promise<Neighbour> {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by its vehicle's name. */
  const awaited = new Map<string, number>();
  let times: Times = { list: [], ingest: [], delivery: [] };
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) times.delivery.push(performance.now() - sent);
  });
  await us.webhooks([receiver.url], { notificationTypes: [2] });

  let events = 0;
  let refused = 0;
  /** Repeats a call until it is accepted, as every client should; a refusal makes it that much slower. */
  const insist = async (make: () => Promise<unknown>): Promise<void> => {
    for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000))
      try {
        return void (await make());
      } catch {
        refused++;
      }
  };
  const list = async () => {
    const began = performance.now();
    const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
    await insist(() => request(`${stack.baseUrl}/vehicles?limit=50`, { headers }));
    times.list.push(performance.now() - began);
  };
  const ingest = async () => {
    const name = `n${events++}`;
    const began = performance.now();
    awaited.set(name, began);
    await insist(() => us.ingest([vehicle(name), safetyEvent(name)]));
    times.ingest.push(performance.now() - began);
  };
  const live = async (seconds: number) => {
    times = { list: [], ingest: [], delivery: [] };
    refused = 0;
    const until = AbortSignal.timeout(seconds * 1000);
    await Promise.all([paced(listsPerSecond, until, list), paced(eventsPerSecond, until, ingest)]);
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { times, refused, lost: awaited.size };
  };
  await live(0.5); // warm
  return { stack, live, stop: receiver.stop };
}
