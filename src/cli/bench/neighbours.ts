import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeMemory } from '../local/memory.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { localDirectory } from '../project/paths.ts';
import { type Attack, type AttackSize, attacks, mostPerSecond } from './attacks.ts';
import { startNeighbour, type Times } from './neighbour.ts';
import { machine, percentile, report } from './report.ts';

/** How long the neighbour is measured, alone and beside each attack; and whether each attack gets a stack of its own. */
type Size = Omit<AttackSize, 'perSecond'> & {
  seconds: number;
  freshStacks: boolean;
  only?: string | undefined;
};

/** Those who hammer take a quarter of what the runtime can answer at all, so that slow machines can be compared. */
const hammeringShare = 0.25;

/** Beside an attack, a neighbour's p99 may be so many times what it is alone. */
const maxRatio = 3;

const measures = { list: 'lists', ingest: 'ingest', delivery: 'deliveries' } satisfies Record<
  keyof Times,
  string
>;

/**
 * Measures what a well-behaved account notices of each attack: its times alone and beside it, in the same run on the
 * same stack, with the limits that the service has. Prints two tables. Returns whether every ratio is within its bar
 * and nothing was lost.
 */
export async function benchNeighbours(json: boolean, chosenSize: Size): Promise<boolean> {
  const times: (string | number)[][] = [];
  const effects: (string | number)[][] = [];
  let met = true;
  let stack = await newStack();
  const most = await mostPerSecond(stack, Math.min(5, chosenSize.seconds));
  const size = { ...chosenSize, perSecond: hammeringShare * most };
  const chosen = attacks.filter(({ name }) => name.includes(size.only ?? ''));
  for (const attack of chosen) {
    if (size.freshStacks && attack !== chosen[0]) {
      await stack.stop();
      stack = await newStack();
    }
    const { alone, beside, did, idle, peak } = await suffer(stack, attack, size).catch(async (error) => {
      await stack.stop();
      throw error;
    });
    for (const [key, name] of Object.entries(measures)) {
      const kind = key as keyof Times; // of the object above
      const [before, during] = [alone.times[kind], beside.times[kind]];
      const ratio = percentile(during, 0.99) / percentile(before, 0.99);
      met &&= ratio <= maxRatio || attack.isControl === true;
      const shown = [before, during].flatMap((all) => [percentile(all, 0.5), percentile(all, 0.99)]);
      times.push([
        attack.name,
        name,
        ...shown.map((ms) => ms.toFixed(1)),
        (percentile(during, 0.5) / percentile(before, 0.5)).toFixed(2),
        ratio.toFixed(2),
        ratio <= maxRatio ? 'yes' : 'no',
      ]);
    }
    met &&= beside.lost === 0;
    effects.push([attack.name, did, beside.refused, beside.lost, Math.round(idle), Math.round(peak)]);
  }
  await stack.stop();
  report(
    `A well-behaved account alone and beside each attack, ms; bar: p99 at most ${maxRatio} times; up to ${Math.round(most)} requests a second; ${machine()}`,
    ['attack', '', 'alone p50', 'p99', 'beside p50', 'p99 ', 'p50 ratio', 'p99 ratio', 'met'],
    times,
    json,
  );
  report(
    'What the attacker did, what the neighbour was refused and lost, and the memory of the runtime',
    ['attack', 'did', 'refused', 'lost', 'MB alone', 'MB at most'],
    effects,
    json,
  );
  return met;
}

const directory = join(localDirectory, 'bench-neighbours');

/** Starts the service as it is, with the limits that it has. */
function newStack(): Promise<Stack> {
  rmSync(directory, { recursive: true, force: true });
  return startStack({ directory, port: 0 });
}

/** Runs one attack, and the neighbour before and beside it. */
async function suffer(stack: Stack, { prepare }: Attack, { seconds, ...size }: Size & AttackSize) {
  const { begin, stop } = await prepare(stack, size);
  const neighbour = await startNeighbour(stack);
  const alone = await neighbour.live(seconds);
  const idle = await runtimeMemory(directory);
  let peak = idle;
  const watch = setInterval(async () => {
    peak = Math.max(peak, await runtimeMemory(directory).catch(() => 0));
  }, 250);
  const attacking = begin(AbortSignal.timeout(seconds * 1000));
  const beside = await neighbour.live(seconds);
  const did = await attacking;
  clearInterval(watch);
  neighbour.stop();
  stop?.();
  return { alone, beside, did, idle, peak };
}
