import { writeAccidents } from '../fleet/accidents/write.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import type { Accepted } from './accept.ts';
import { type Keeper, keeperOf } from './keep.ts';
import { notifierOf } from './notify.ts';

/** An accident is made up of its records, which refer to nothing. */
const accidentKeeper: Keeper = { parents: [], write: writeAccidents };

/** How records of each kind are kept, and how customers are notified of them: worked out once. */
const kinds = recordKinds.map((resource) => ({
  kind: resource.kind,
  toRow: resource.toRow,
  keeper: resource.kind === 'accident' ? accidentKeeper : keeperOf(resource),
  notifier: notifierOf(resource.kind),
}));

/** When the oldest of the records that customers are notified of happened (milliseconds since 1970); Infinity for none. */
export const oldestNews = (accepted: Accepted[]): number =>
  Math.min(
    ...accepted.map(({ record }) => notifierOf(record.kind)?.happenedAt(record) ?? Number.POSITIVE_INFINITY),
  );

/** A record that was accepted, with its row. */
export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/**
 * Records of one kind in a call, each of something else, with their notifications; `ofKind` is how many records of the
 * kind the whole call has.
 */
export type Batch = ReturnType<typeof batchesOfKind>[number];

/**
 * The accepted records of a call, kind by kind, in the order they are written. Nobody is notified of those from before
 * `newsSince` (milliseconds since 1970): they may be archived, so that D1 does not know whether they are new.
 */
export const batchesOf = (source: Source, accepted: Accepted[], newsSince: number): Batch[] =>
  kinds.flatMap((kind) => batchesOfKind(source, kind, accepted, newsSince));

function batchesOfKind(
  source: Source,
  { kind, toRow, keeper, notifier }: (typeof kinds)[number],
  accepted: Accepted[],
  newsSince: number,
) {
  const all = accepted
    .filter(({ record }) => record.kind === kind)
    .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
  return byOccurrence(all).map((entries) => ({
    keeper,
    notifier,
    entries,
    ofKind: all.length,
    notifications: notifier
      ? entries
          .filter(({ record }) => notifier.happenedAt(record) >= newsSince)
          .map(({ record, row }) => notifier.notification(source, record, row))
      : [],
  }));
}

/** The first record of each thing, then the second of each: an accident may have up to three in a call, its levels. */
function byOccurrence(entries: Entry[]): Entry[][] {
  const occurrences: Entry[][] = [];
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const occurrence = seen.get(entry.row.id) ?? 0;
    seen.set(entry.row.id, occurrence + 1);
    occurrences[occurrence] = [...(occurrences[occurrence] ?? []), entry];
  }
  return occurrences;
}
