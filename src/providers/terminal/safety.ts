import { learnAll, stillOpen } from '../crash.ts';
import { inPasses } from '../passes.ts';
import { iso } from '../read.ts';
import { type Api, page } from './api.ts';
import { learn, readAgain, readVerdicts, type Seen, type Verdicts, verdictOf } from './crashes.ts';
import { overlapMs, startedIn } from './fleet.ts';
import { vehicleOf } from './records.ts';

/** Events come with their vehicles, whose VINs accidents need. */
const expand = 'vehicle';

/** Safety events. Terminal may receive them late: hours after they happened is usual. */
export const events = inPasses<Api, Seen[]>({
  everyMinutes: 1,
  overlapMs,
  /** The provider's own records of crashes are read too. Those that may still become something else are kept. */
  async read(api, { from, place }, kept = []) {
    const again = await readAgain(api, kept);
    const verdicts = new Map(again.items.map((item) => [item, verdictOf(item)]));
    const late = learnIn(api, again.items, verdicts, again.open);
    const { items, next } = await page(api, '/safety/events', { modifiedAfter: iso(from), expand }, place);
    const found = learnIn(api, items, await readVerdicts(api, items, late.open), late.open);
    return {
      records: [...late.records, ...found.records],
      vehicles: [...late.vehicles, ...found.vehicles],
      next,
      kept: found.open,
    };
  },
  history: {
    windowDays: 7,
    isExact: true,
    async page(api, window, place) {
      const { items, next } = await page(api, '/safety/events', { ...startedIn(window), expand }, place);
      const verdicts = await readVerdicts(api, items, [], { mayMiss: false });
      const { records, vehicles } = learnIn(api, items, verdicts, []);
      return { records, vehicles, next };
    },
  },
});

function learnIn({ access }: Api, items: unknown[], verdicts: Verdicts, before: Seen[]) {
  const now = Date.now();
  const ownWords = access.incidentTypeMap;
  const { records, open } = learnAll(items, before, (item, known) =>
    learn(item, known, { verdicts, now, ownWords }),
  );
  return { records, vehicles: items.flatMap(vehicleOf), open: stillOpen(open, now) };
}
