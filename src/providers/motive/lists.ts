import type { ProviderRecord } from '../connector.ts';
import type { List } from './api.ts';
import { type Learned, learn, type Watched } from './crashes.ts';
import { isSpeeding, speedingRecord } from './events.ts';

export const performance: List = {
  path: '/v2/driver_performance_events',
  many: 'driver_performance_events',
  one: 'driver_performance_event',
};

export const speeding: List = {
  path: '/v1/speeding_events',
  many: 'speeding_events',
  one: 'speeding_event',
};

/** The two lists that safety events come from, in the order in which they are read. */
export const eventLists = [performance, speeding];

/** What a page of one of them says, with the crashes that are open after it. */
export function learnAll(list: List, items: unknown[], before: Watched[], now: number): Learned {
  if (list === speeding) return { records: items.filter(isSpeeding).map(speedingRecord), open: before };
  const records: ProviderRecord[] = [];
  let open = before;
  for (const item of items) {
    const learned = learn(item, open, { now });
    records.push(...learned.records);
    open = learned.open;
  }
  return { records, open };
}
