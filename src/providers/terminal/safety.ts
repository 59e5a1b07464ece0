import type { Feed, Json, Page, ProviderRecord } from '../connector.ts';
import { stillOpen } from '../crash.ts';
import { type Api, afterPage, beginPass, changedSince, type Passes, page, passesFrom } from './api.ts';
import { learn, readAgain, readVerdicts, type Seen, type Verdicts, verdictOf } from './crashes.ts';
import { startedIn } from './fleet.ts';
import { vehicleOf } from './records.ts';

/** A page of ours is one of Terminal's and the provider's own records of its crashes, which all end within this. */
const endMs = 18_000;

/** Events come with their vehicles, whose VINs accidents need. */
const expand = 'vehicle';

/** Where the feed stands, with the crashes that may still become something else. */
type Standing = Passes & { open: Seen[] };

/** Safety events. Terminal may receive them late: hours after they happened is usual. */
export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(access, cursor, since) {
    const now = Date.now();
    const api = { ...access, until: now + endMs };
    const standing = (cursor as Standing | null) ?? { ...passesFrom(since - 60_000), open: [] };
    const pass = beginPass(standing, now);
    const query = { ...changedSince(standing, pass), expand };
    const again = await readAgain(api, standing.open);
    const late = learnAll(api, again.items, verdictsIn(again.items), again.open, now);
    const { items, next } = await page(api, '/safety/events', query, pass.after);
    const { open, ...found } = learnAll(
      api,
      items,
      await readVerdicts(api, items, late.open),
      late.open,
      now,
    );
    const after: Standing = { ...afterPage(standing, pass, next), open };
    return {
      records: [...late.records, ...found.records],
      vehicles: [...late.vehicles, ...found.vehicles],
      cursor: after as unknown as Json, // plain values throughout
      more: next !== null,
    };
  },
  history: {
    windowDays: 7,
    async page(access, window, cursor) {
      const now = Date.now();
      const api = { ...access, until: now + endMs };
      const { items, next } = await page(api, '/safety/events', { ...startedIn(window), expand }, cursor);
      const verdicts = await readVerdicts(api, items, [], { mayMiss: false });
      const { records, vehicles } = learnAll(api, items, verdicts, [], now);
      return { records, vehicles, cursor: next, more: next !== null } satisfies Page;
    },
  },
};

function learnAll(
  { incidentTypeMap: ownWords }: Api,
  items: unknown[],
  verdicts: Verdicts,
  before: Seen[],
  now: number,
) {
  const records: ProviderRecord[] = [];
  let open = before;
  for (const item of items) {
    const learned = learn(item, open, { verdicts, now, ownWords });
    records.push(...learned.records);
    open = learned.open;
  }
  return { records, vehicles: items.flatMap(vehicleOf), open: stillOpen(open, now) };
}

const verdictsIn = (items: unknown[]): Verdicts => new Map(items.map((item) => [item, verdictOf(item)]));
