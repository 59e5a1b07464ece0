import { type SQL, sql } from 'drizzle-orm';
import { knownFrom } from '../fleet/accidents/store.ts';
import { addHeldBack } from '../fleet/connections.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { recordWritten, type Written } from '../fleet/record-changes.ts';
import type { Database } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { fanOut, workOf } from '../webhooks/deliveries/fan-out.ts';
import type { DeliveryMessage } from '../webhooks/deliveries/queue.ts';
import { newAmong } from '../webhooks/notifications/insert.ts';
import { EVENT } from '../webhooks/notifications/types.ts';
import { accidentsOf, type Decided, type EvidenceOfRecords, readKnown } from './accidents.ts';
import { type Batch, batchesOf } from './batches.ts';
import { missingAmong } from './keep.ts';
import type { Accepted, RecordWarning, Rejection } from './schema.ts';
import { writeAccidents } from './write-accidents.ts';

export type WrittenRecords = {
  changed: number;
  rejected: Rejection[];
  warnings: RecordWarning[];
  heldBack: number;
};

export type WriteOptions = {
  notify: boolean;
  /** When the account is refused, as the guard's option. */
  refused: SQL | undefined;
};

/** What a call does besides storing records. */
export type Besides = {
  /** Starts work on new deliveries. */
  start: (work: DeliveryMessage[]) => void;
  /** Adds the files that accidents link to; without it, links are not used. */
  evidence?: EvidenceOfRecords;
};

/**
 * Stores records with notifications and deliveries, and adds to `total`. Two
 * transactions, each of which may be repeated: accidents are decided about by what the first one reads.
 */
export async function writeRecords(
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  { notify, refused }: WriteOptions,
  total: WrittenRecords,
  { start, evidence }: Besides,
): Promise<void> {
  const batches = batchesOf(source, accepted);
  const accidents = accidentsOf(source, accepted);
  const isNotified = ({ notifications }: Batch) => notify && notifications.length > 0;
  // Notifications come before the records, because a record that exists has been notified.
  const statements = (db: Database) => ({
    batches: batches.map((batch) => ({
      notified: isNotified(batch) ? fanOut(db, source, newsOf(batch)) : undefined,
      heldBack: notify && batch.heldBack.length > 0 ? countHeldBack(db, source, batch) : undefined,
      kept: keep(db, batch),
    })),
    changes: recordChanges(db, source, batches, !notify),
    known: accidents.length > 0 ? readKnown(db, source, accidents) : undefined,
  });
  const results = await asCaller(env, caller, statements, { repeatable: true, refused });
  for (const [place, { notified, heldBack, kept }] of results.batches.entries()) {
    const batch = batches[place] as Batch; // D1 returns a result for each, in order
    total.heldBack += heldBack?.counted[0]?.value ?? 0;
    addKept(total, batch, kept.found);
    if (notified) start(workOf(source, newsOf(batch), notified));
  }
  if (!results.known) return;
  const known = knownFrom(results.known);
  const { decided, work } = await writeAccidents(env, caller, source, accidents, known, {
    notify,
    evidence,
  });
  addDecided(total, decided);
  start(work);
}

function newsOf({ notifications }: Batch) {
  return { type: EVENT, notifications, ofType: notifications.length } as const;
}

/** Adds what became of accidents to the total of their call. */
export function addDecided(total: WrittenRecords, { changed, warnings }: Decided): void {
  total.changed += changed;
  total.warnings.push(...warnings);
}

/** Counts new safety events that are too old for notifications. */
function countHeldBack(db: Database, source: Source, { heldBack }: Batch) {
  const count = newAmong(heldBack);
  return {
    added: addHeldBack(db, source, count),
    // Raw: it has no table.
    counted: db.all<{ value: number }>(sql`select ${count} as value`),
  };
}

function keep(db: Database, batch: Batch) {
  const rows = batch.entries.map(({ row }) => row);
  return {
    written: batch.keeper.write(db, rows),
    // Raw: it has no table. D1's own count includes the changes of triggers.
    found: db.all<{ value: string }>(sql`select ${keptOf(batch, sql`changes()`)} as value`),
  };
}

/** SQL for what became of a batch: how many rows `changed`, and missing parents. */
export function keptOf({ keeper, entries }: Batch, changed: SQL): SQL {
  const missing = keeper.parents.map(({ key, table }) =>
    missingAmong(table, [...new Set(entries.map(({ row }) => row[key]))]),
  );
  return sql`json_object('changed', ${changed}, 'missing', json_array(${sql.join(missing, sql`, `)}))`;
}

/** Adds what became of a batch to the total of its call. */
export function addKept(total: WrittenRecords, batch: Batch, found: { value: string }[]): void {
  const kept: Kept = JSON.parse(found[0]?.value ?? '{}'); // as `keptOf` selects it
  total.changed += kept.changed;
  total.rejected.push(...orphansIn(batch, kept));
}

/** How many rows changed, and missing parents' ids by parent. */
type Kept = { changed: number; missing: string[][] };

export const unknownParent = (kind: string): string =>
  `${kind} is neither known nor in the same call`;

/** The records that refer to unknown ones, and were not written. */
const orphansIn = ({ keeper, entries }: Batch, { missing }: Kept): Rejection[] =>
  keeper.parents.flatMap(({ key, kind }, place) => {
    const unknown = new Set<unknown>(missing[place]);
    return entries
      .filter(({ row }) => unknown.has(row[key]))
      .map(({ index, record }) => ({
        index,
        sourceId: record.sourceId,
        message: unknownParent(kind),
      }));
  });

function recordChanges(db: Database, source: Source, batches: Batch[], quiet: boolean) {
  const entries = batches.flatMap((batch) => batch.entries);
  const written = recordKinds.flatMap(({ kind, table }): Written[] => {
    const ids = entries.flatMap(({ record, row }) => (record.kind === kind ? [row.id] : []));
    return ids.length > 0 ? [{ kind, table, ids: [...new Set(ids)] }] : [];
  });
  const bytes = JSON.stringify(entries.map(({ row }) => row)).length;
  return written.length > 0 ? recordWritten(db, source, written, { quiet, bytes }) : undefined;
}
