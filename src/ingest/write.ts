import { sql } from 'drizzle-orm';
import { addHeldBack } from '../fleet/connections.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { recordWritten, type Written } from '../fleet/record-changes.ts';
import { type Database, type Results, read } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { fanOut, holdNewLevels, workOf } from '../webhooks/deliveries/fan-out.ts';
import type { NewWork } from '../webhooks/deliveries/send/first-claim.ts';
import { newAmong } from '../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT } from '../webhooks/notifications/types.ts';
import type { Accepted } from './accept.ts';
import { type Batch, batchesOf } from './batches.ts';
import { knownIds } from './keep.ts';
import { whenOverQuota } from './quotas.ts';
import type { RecordWarning, Rejection } from './schema.ts';

export type WrittenRecords = {
  changed: number;
  rejected: Rejection[];
  warnings: RecordWarning[];
  heldBack: number;
  work: NewWork[];
};

/** Stores records with notifications and deliveries in one transaction, which may be repeated. */
export async function writeRecords(
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  { notify, claims }: { notify: boolean; claims: number },
): Promise<WrittenRecords> {
  const batches = batchesOf(source, accepted);
  const notified = notify ? batches.filter(({ notifications }) => notifications.length > 0) : [];
  const claiming = claims > 0 ? notified.find(({ type }) => type === EVENT) : undefined;
  // Notifications come before the records, because a record that exists has been notified.
  const statements = (db: Database) => ({
    batches: batches.map((batch) => ({
      notified: notified.includes(batch)
        ? fanOut(db, source, batch, batch === claiming ? claims : 0)
        : undefined,
      heldBack: notify && batch.heldBack.length > 0 ? countHeldBack(db, source, batch) : undefined,
      kept: keep(db, batch),
    })),
    held: notified.map((batch) => (hasLaterLevels(batch) ? holdNewLevels(db, source, batch) : undefined)),
    changes: recordChanges(db, source, batches, !notify),
  });
  const hasAccident = accepted.some(({ record }) => record.kind === 'accident');
  const refused = whenOverQuota(caller.accountId, source.now, hasAccident);
  const results = await asCaller(env, caller, statements, { repeatable: true, refused });
  return results.batches.reduce<WrittenRecords>(
    (sum, { notified, heldBack, kept }, place) => {
      const batch = batches[place] as Batch; // D1 returns a result for each, in order
      sum.heldBack += heldBack?.counted[0]?.count ?? 0;
      sum.changed += kept.counted[0]?.count ?? 0;
      sum.warnings.push(...warningsIn(batch, kept));
      sum.rejected.push(...orphansIn(batch, kept));
      if (notified) sum.work.push(...workOf(source, batch, notified));
      return sum;
    },
    { changed: 0, rejected: [], warnings: [], heldBack: 0, work: [] },
  );
}

/** Counts new safety events that are too old for notifications. */
function countHeldBack(db: Database, source: Source, { heldBack }: Batch) {
  const count = newAmong(heldBack);
  return {
    added: addHeldBack(db, source, count),
    counted: read<{ count: number }>(db)`select ${count} as count`,
  };
}

function keep(db: Database, { keeper, entries }: Batch) {
  const { write, warning, parents } = keeper;
  const rows = entries.map(({ row }) => row);
  const places = warning ? sql`iif(changes() > 0, ${warning.among(rows)}, null)` : sql`null`;
  return {
    written: write(db, rows),
    // D1's own count includes the changes of triggers.
    counted: read<{ count: number; warned: string | null }>(
      db,
    )`select changes() as count, ${places} as warned`,
    parents: parents.map(({ key, table }) =>
      knownIds(db, table, [...new Set(rows.map((row) => String(row[key])))]),
    ),
  };
}

type Kept = Results<ReturnType<typeof keep>>;

/** The warnings of records that deserve one now that they are written. */
function warningsIn({ keeper: { warning }, entries }: Batch, { counted: [row] }: Kept): RecordWarning[] {
  const places: number[] = JSON.parse(row?.warned ?? '[]');
  return places.flatMap((place) => {
    const entry = entries[place];
    if (!entry || !warning) return [];
    const { index, record } = entry;
    const { field, message } = warning;
    return [{ index, kind: record.kind, sourceId: record.sourceId, field, message }];
  });
}

export const unknownParent = (kind: string): string => `${kind} is neither known nor in the same call`;

/** The records that refer to unknown ones, and were not written. */
const orphansIn = ({ keeper, entries }: Batch, kept: Kept): Rejection[] =>
  keeper.parents.flatMap(({ key, kind }, place) => {
    const known = new Set(kept.parents[place]?.map(({ id }) => id));
    return entries
      .filter(({ row }) => !known.has(String(row[key])))
      .map(({ index, record }) => ({ index, sourceId: record.sourceId, message: unknownParent(kind) }));
  });

const hasLaterLevels = ({ type, notifications }: Batch): boolean =>
  type === ACCIDENT && notifications.some(({ level }) => level > 1);

function recordChanges(db: Database, source: Source, batches: Batch[], quiet: boolean) {
  const entries = batches.flatMap((batch) => batch.entries);
  const written = recordKinds.flatMap(({ kind, table }): Written[] => {
    const ids = entries.flatMap(({ record, row }) => (record.kind === kind ? [row.id] : []));
    return ids.length > 0 ? [{ kind, table, ids: [...new Set(ids)] }] : [];
  });
  const bytes = JSON.stringify(entries.map(({ row }) => row)).length;
  return written.length > 0 ? recordWritten(db, source, written, { quiet, bytes }) : undefined;
}
