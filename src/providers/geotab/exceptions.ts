import type { Feed } from '../connector.ts';
import { isCollision } from './events.ts';
import { historyPage } from './history.ts';
import { feed } from './lists.ts';
import { idOf, keptWaiting, preciseMs, recordsOf, type Seen, seenIn } from './pending.ts';
import { lookUp } from './places.ts';
import type { Api } from './rpc.ts';
import { currentRules, type Rules } from './rules.ts';

/** Small, because each exception needs a look-up of its place. */
const perPage = 100;

/** How many waiting exceptions a page tries again. */
const triesPerPage = 25;

/** Where exceptions stand, with the rules that are taken, and those that are looked at again. */
type Progress = { version: string; rules: Rules; waiting: Seen[] };

export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const place = cursor as Progress | null;
    const rules = await currentRules(api, place?.rules);
    const found = await feed(api, 'ExceptionEvent', place ? { version: place.version } : { since }, perPage);
    const now = Date.now();
    const known = new Map(place?.waiting.map((one) => [idOf(one.item), one]));
    // The last version of each counts.
    const fresh = new Map(
      found.items.map((item) => [
        idOf(item),
        seenIn(api, rules, item, known.get(idOf(item)) ?? { since: now }),
      ]),
    );
    const left = [...known.values()].filter(({ item }) => !fresh.has(idOf(item)));
    // Waiting ones may have been dismissed meanwhile: known only at the end of the feed.
    const due = found.more ? [] : dueIn(left, now);
    const seen = [...[...fresh.values()].flatMap((one) => one ?? []), ...due];
    const asks = seen.map(({ item, since }) => ({ item, wide: now - since >= preciseMs }));
    const { waiting, ...read } = recordsOf(seen, await lookUp(api, asks), now);
    const stillWaiting = keptWaiting([...left.filter((one) => !due.includes(one)), ...waiting]);
    return { ...read, cursor: { version: found.version, rules, waiting: stillWaiting }, more: found.more };
  },
  history: { windowDays: 7, isExact: true, page: historyPage },
};

/** Those of the waiting that are due, collisions first. */
const dueIn = (waiting: Seen[], now: number): Seen[] =>
  waiting
    .filter(({ at = 0 }) => at <= now)
    .toSorted(
      (a, b) => Number(isCollision(b.item)) - Number(isCollision(a.item)) || (a.at ?? 0) - (b.at ?? 0),
    )
    .slice(0, triesPerPage);
