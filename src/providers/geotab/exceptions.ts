import type { Feed } from '../connector.ts';
import { historyPage } from './history.ts';
import { feed } from './lists.ts';
import {
  confirm,
  idOf,
  keptOpen,
  keptWaiting,
  nextTry,
  type OpenCrash,
  preciseMs,
  recordsOf,
  type Seen,
  seenIn,
  type Waiting,
} from './pending.ts';
import { lookUp } from './places.ts';
import type { Api } from './rpc.ts';
import { currentRules, type Rules } from './rules.ts';

/** Each exception that is taken needs a look-up of its place, so pages are small. */
const perPage = 100;

/** In one page, so many of those that wait are tried again. */
const triesPerPage = 25;

/** Where exceptions stand, with the rules that are taken, and what is not complete yet. */
type Progress = { version: string; rules: Rules; waiting: Waiting[]; open: OpenCrash[] };

/** Safety events and accidents, from ExceptionEvents. */
export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const place = cursor as Progress | null;
    const rules = await currentRules(api, place?.rules);
    const found = await feed(api, 'ExceptionEvent', place ? { version: place.version } : { since }, perPage);
    const now = Date.now();
    const waiting = place?.waiting ?? [];
    const fresh = freshIn(found.items, waiting, (item, known) => seenIn(api, rules, item, known ?? now));
    const news = new Set(found.items.map(idOf));
    const left = waiting.filter(({ item }) => !news.has(idOf(item)));
    // What waits may have been dismissed meanwhile: only at the end of the feed that is known.
    const due = found.more ? [] : dueIn(left, now);
    const seen = [...fresh, ...due.map((one) => ({ ...one, isNew: false }))];
    const asks = seen.map(({ item, since }) => ({ item, wide: now - since >= preciseMs }));
    const read = recordsOf(seen, await lookUp(api, asks), place?.open ?? []);
    const stillWaiting = [...left.filter((one) => !due.includes(one)), ...waitingOf(read.lacking, now)];
    const { confirmed, open } = found.more ? { confirmed: [], open: read.open } : confirm(read.open, now);
    return {
      records: [...read.records, ...confirmed],
      vehicles: read.vehicles,
      cursor: { version: found.version, rules, waiting: keptWaiting(stillWaiting), open: keptOpen(open) },
      more: found.more,
    };
  },
  history: { windowDays: 7, isExact: true, page: historyPage },
};

/** The exceptions of a page that are taken, the last version of each. Of those that wait it is known since when. */
function freshIn(
  items: unknown[],
  waiting: Waiting[],
  seen: (item: unknown, since: number | undefined) => Seen | undefined,
): Seen[] {
  const since = new Map(waiting.map((one) => [idOf(one.item), one.since]));
  const byId = new Map(items.map((item) => [idOf(item), seen(item, since.get(idOf(item)))]));
  return [...byId.values()].flatMap((one) => one ?? []);
}

/** Those of the waiting that are due. */
const dueIn = (waiting: Waiting[], now: number): Waiting[] =>
  waiting
    .filter(({ at }) => at <= now)
    .toSorted((a, b) => a.at - b.at)
    .slice(0, triesPerPage);

/** What is lacking something, with when it is looked for next, as long as it may still come. */
const waitingOf = (lacking: Seen[], now: number): Waiting[] =>
  lacking.flatMap(({ item, word, since }) => {
    const at = nextTry(since, now);
    return at === undefined ? [] : [{ item, word, since, at }];
  });
