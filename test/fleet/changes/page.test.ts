import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  collapse,
  entriesOf,
  keysOf,
  type Noted,
  type Reached,
  reachedAt,
} from '../../../src/fleet/changes/page.ts';

const kinds = ['driver', 'vehicle'];
const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 5 });
const row = fc.record({
  action: fc.constantFrom('changed' as const, 'deleted' as const),
  byKind: fc.record({ driver: ids, vehicle: ids, trip: ids }),
});
/** Rows as they are noted, with gaps between their numbers. */
const rows = fc.array(row, { maxLength: 12 }).map((all) =>
  all.map(
    ({ action, byKind }, at): Noted => ({
      seq: 10 + 3 * at,
      connectionId: 'c',
      action,
      records: JSON.stringify(byKind),
      day: null,
    }),
  ),
);

describe('reading the feed page by page', () => {
  it('takes each record no earlier than its last change, once a page, and ends', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 6 }), (noted, limit) => {
        const all = entriesOf(noted, { seq: 0 }, kinds);
        const read: string[] = [];
        let after: Reached = { seq: 0 };
        let end: Reached | undefined;
        do {
          const beyond = noted.filter(({ seq }) => seq > after.seq || (seq === after.seq && after.records));
          const page = collapse(entriesOf(beyond, after, kinds), after, limit);
          expect(page.records.length).toBeLessThanOrEqual(limit);
          expect(new Set(page.records.map(({ kind, id }) => kind + id)).size).toBe(page.records.length);
          read.push(...page.records.map(({ kind, id, action }) => `${kind} ${id} ${action}`));
          end = page.end;
          if (end) after = reachedAt(keysOf(end)) ?? { seq: -1 };
          expect(read.length).toBeLessThanOrEqual(all.length);
        } while (end);
        // The last that is read of a record is the last that became of it.
        const last = (entries: string[]) =>
          new Map(entries.map((entry): [string, string] => [entry.slice(0, entry.lastIndexOf(' ')), entry]));
        const noticed = all.map(({ kind, id, action }) => `${kind} ${id} ${action}`);
        expect(last(read)).toEqual(last(noticed));
      }),
      { numRuns: 300 },
    );
  });
});
