import { writeAccidents } from '../fleet/accidents/write.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import type { Accepted } from './accept.ts';
import { type Keeper, keeperOf } from './keep.ts';
import { notifierOf } from './notify.ts';

const accidentKeeper: Keeper = { parents: [], write: writeAccidents };

const kinds = recordKinds.map((resource) => ({
  kind: resource.kind,
  toRow: resource.toRow,
  keeper: resource.kind === 'accident' ? accidentKeeper : keeperOf(resource),
  notifier: notifierOf(resource.kind),
}));

/** When the oldest record to notify of happened (milliseconds since 1970); Infinity if there is none. */
export const oldestNews = (accepted: Accepted[]): number =>
  Math.min(
    ...accepted.map(({ record }) => notifierOf(record.kind)?.happenedAt(record) ?? Number.POSITIVE_INFINITY),
  );

export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/**
 * Records of one kind in a call, each for a different thing, with their notifications; `ofKind` counts all of the kind
 * in the call.
 */
export type Batch = ReturnType<typeof batchesOfKind>[number];

/**
 * The accepted records of a call by kind, in the order they are written. Records from before `newsSince` (milliseconds
 * since 1970) notify nobody: they may be archived, so that D1 cannot know whether they are new.
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

/** The first record for each thing, then the second: a call may have up to three levels of an accident. */
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
