import { runtimeMemory } from '../local/memory.ts';
import { type Attack, type AttackSize, attacks, mostPerSecond } from './attacks.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { startNeighbour, type Times } from './neighbour.ts';
import { percentile, yesOrNo } from './table.ts';

/** Those who hammer take a quarter of what the runtime can serve at all, so that slow machines can be compared. */
const hammeringShare = 0.25;

/** Beside an attack, a neighbour's p99 may be so many times what it is alone. */
const maxRatio = 3;

const measures = { list: 'lists', ingest: 'ingest', delivery: 'deliveries' } satisfies Record<
  keyof Times,
  string
>;

/**
 * A neighbour's times alone and beside each attack, in the same run on the same stack, with the limits that the service
 * has.
 */
export const neighbours: Benchmark = {
  about: 'what a well-behaved account notices of others that are not',
  run: async ({ small, stack: start }) => {
    const { seconds, ...size } = small
      ? { seconds: 0.5, webhooks: 5, eventsPerCall: 20, floodCalls: 2 }
      : { seconds: 30, webhooks: 1000, eventsPerCall: 500, floodCalls: 100 };
    const times = [];
    const effects = [];
    let most: number | undefined;
    for (const attack of attacks) {
      const stack = await start({ rateLimits: !small }); // a small run goes on with the stack of the others
      most ??= await mostPerSecond(stack, Math.min(5, seconds));
      const perSecond = hammeringShare * most;
      const { alone, beside, did, idleMb, peakMb } = await suffer(
        stack,
        attack,
        { ...size, perSecond },
        seconds,
      );
      for (const [kind, name] of Object.entries(measures) as [keyof Times, string][]) {
        const [before, during] = [alone.times[kind], beside.times[kind]];
        const ratioOf = (share: number) => percentile(during, share) / percentile(before, share);
        const ms = [before, during].flatMap((all) => [percentile(all, 0.5), percentile(all, 0.99)]);
        const shown = [...ms.map((one) => one.toFixed(1)), ...[0.5, 0.99].map((p) => ratioOf(p).toFixed(2))];
        times.push([attack.name, name, ...shown, yesOrNo(ratioOf(0.99) <= maxRatio)]);
      }
      const memory = [Math.round(idleMb), Math.round(peakMb)];
      effects.push([attack.name, did, beside.refused, ...memory, beside.lost, yesOrNo(beside.lost === 0)]);
    }
    const head = ['attack', '', 'alone p50', 'p99', 'beside p50', 'p99 ', 'p50 ratio', 'p99 ratio', 'met'];
    return [
      {
        title: `A well-behaved account alone and beside each attack, ms; bar: p99 at most ${maxRatio} times; up to ${Math.round(most ?? 0)} requests a second`,
        ...{ head, rows: times },
      },
      {
        title:
          'What the attacker did, what the neighbour was refused and lost, and the memory of the runtime',
        head: ['attack', 'did', 'refused', 'MB alone', 'MB at most', 'lost', 'met'],
        rows: effects,
      },
    ];
  },
};

/** Runs one attack, and the neighbour before and beside it. */
async function suffer(stack: BenchStack, { prepare }: Attack, size: AttackSize, seconds: number) {
  const { begin, stop } = await prepare(stack, size);
  const neighbour = await startNeighbour(stack);
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
  neighbour.stop();
  stop?.();
  return { alone, beside, did, idleMb, peakMb };
}
