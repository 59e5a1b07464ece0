import autocannon from 'autocannon';
import { attacks } from './attacks.ts';
import type { Benchmark } from './harness.ts';
import { paced, startNeighbour } from './neighbour.ts';
import { percentile, type TableRow } from './table.ts';

/** A neighbour's p99 during an attack may be this many times its p99 alone. */
const maxRatio = 3;

/** A neighbour's times alone and during each attack, in the same run on the same stack, with the service's limits. */
export const neighbours: Benchmark = {
  about: 'what a well-behaved account notices of others that are not',
  run: async ({ small, stack: start }) => {
    const size = small
      ? { seconds: 0.5, webhooks: 5, eventsPerCall: 20, floodCalls: 2 }
      : { seconds: 30, webhooks: 1000, eventsPerCall: 500, floodCalls: 100 };
    const times: TableRow[] = [];
    const effects: TableRow[] = [];
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
      for (const kind of ['lists', 'ingest', 'deliveries'] as const) {
        const [before, during] = [percentile(alone[kind], 0.99), percentile(beside[kind], 0.99)];
        const p99s = { 'alone p99': before.toFixed(1), 'beside p99': during.toFixed(1) };
        const ratio = during / before;
        times.push({ attack, '': kind, ...p99s, 'p99 ratio': ratio.toFixed(2), met: ratio <= maxRatio });
      }
      const groups = [...Map.groupBy(outcomes, (outcome) => outcome)];
      const did = groups.map(([outcome, { length }]) => `${length} × ${outcome}`).join(', ');
      effects.push({ attack, did, refused, lost, met: lost === 0 });
    }
    const bar = `p99 at most ${maxRatio} times; up to ${Math.round(most)} requests a second`;
    return [
      { title: `A well-behaved account alone and beside each attack, ms; bar: ${bar}`, rows: times },
      { title: 'What the attacker did, and what the neighbour was refused and lost', rows: effects },
    ];
  },
};
