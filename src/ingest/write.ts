import { type SQL, sql } from 'drizzle-orm';
import { addHeldBack } from '../fleet/connections.ts';
import { addEvidence } from '../fleet/evidence/evidence.ts';
import type { NewEvidence } from '../fleet/evidence/link.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { recordWritten, type Written } from '../fleet/record-changes.ts';
import { type Database, readValue } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { fanOut, holdNewLevels, workOf } from '../webhooks/deliveries/fan-out.ts';
import type { DeliveryMessage } from '../webhooks/deliveries/queue.ts';
import { newAmong } from '../webhooks/notifications/insert.ts';
import { ACCIDENT } from '../webhooks/notifications/types.ts';
import { type Batch, batchesOf } from './batches.ts';
import { missingAmong } from './keep.ts';
import type { Accepted, RecordWarning, Rejection, RowOf, WouldNotify } from './schema.ts';

export type WrittenRecords = {
  changed: number;
  rejected: Rejection[];
  warnings: RecordWarning[];
  heldBack: number;
  wouldNotify: WouldNotify[];
};

export type WriteOptions = {
  notify: boolean;
  /** When the account is refused, as the guard's option. */
  refused: SQL | undefined;
};

/**
 * Stores records with notifications and deliveries in one transaction, which may be repeated, and adds to
 * `total`. Returns work on new deliveries.
 */
export async function writeRecords(
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  { notify, refused }: WriteOptions,
  total: WrittenRecords,
): Promise<DeliveryMessage[]> {
  const batches = batchesOf(source, accepted);
  const notified = notify ? batches.filter(({ notifications }) => notifications.length > 0) : [];
  const linked = batches.flatMap(({ entries }) =>
    entries.flatMap(({ row }) => (isLinked(row) ? [row] : [])),
  );
  // Notifications come before the records, because a record that exists has been notified.
  const statements = (db: Database) => ({
    batches: batches.map((batch) => ({
      notified: notified.includes(batch) ? fanOut(db, source, batch) : undefined,
      heldBack: notify && batch.heldBack.length > 0 ? countHeldBack(db, source, batch) : undefined,
      kept: keep(db, batch),
    })),
    held: notified.map((batch) =>
      hasLaterLevels(batch) ? holdNewLevels(db, source, batch) : undefined,
    ),
    changes: recordChanges(db, source, batches, !notify),
    evidence: linked.length > 0 ? addEvidence(db, source, linked) : undefined,
  });
  const results = await asCaller(env, caller, statements, { repeatable: true, refused });
  return results.batches.flatMap(({ notified, heldBack, kept: { found } }, place) => {
    const batch = batches[place] as Batch; // D1 returns a result for each, in order
    total.heldBack += heldBack?.counted[0]?.value ?? 0;
    addKept(total, batch, found);
    return notified ? workOf(source, batch, notified) : [];
  });
}

/** Whether a row, of an accident, links to files. */
const isLinked = (row: object): row is RowOf<'accident'> & { evidence: NewEvidence[] } =>
  'evidence' in row && row.evidence != null;

/** Counts new safety events that are too old for notifications. */
function countHeldBack(db: Database, source: Source, { heldBack }: Batch) {
  const count = newAmong(heldBack);
  return {
    added: addHeldBack(db, source, count),
    counted: readValue<number>(db)`${count}`,
  };
}

function keep(db: Database, batch: Batch) {
  const rows = batch.entries.map(({ row }) => row);
  return {
    written: batch.keeper.write(db, rows),
    // D1's own count includes the changes of triggers.
    found: readValue<string>(
      db,
    )`${keptOf(batch, sql`changes()`, batch.keeper.warning?.among(rows))}`,
  };
}

/** SQL for what became of a batch: how many rows `changed`, the places `warned` of, and missing parents. */
export function keptOf({ keeper, entries }: Batch, changed: SQL, warned?: SQL): SQL {
  const missing = keeper.parents.map(({ key, table }) =>
    missingAmong(table, [...new Set(entries.map(({ row }) => row[key]))]),
  );
  const warnedOf = warned ? sql`iif(${changed} > 0, ${warned}, '[]')` : sql`'[]'`;
  return sql`json_object('changed', ${changed}, 'warned', json(${warnedOf}),
    'missing', json_array(${sql.join(missing, sql`, `)}))`;
}

/** Adds what became of a batch to the total of its call. */
export function addKept(total: WrittenRecords, batch: Batch, found: { value: string }[]): void {
  const kept: Kept = JSON.parse(found[0]?.value ?? '{}'); // as `keptOf` selects it
  total.changed += kept.changed;
  total.warnings.push(...warningsIn(batch, kept));
  total.rejected.push(...orphansIn(batch, kept));
}

/** How many rows changed, the places of those to warn of, and missing parents' ids by parent. */
type Kept = { changed: number; warned: number[]; missing: string[][] };

/** The warnings of records that deserve one now that they are written. */
function warningsIn({ keeper: { warning }, entries }: Batch, { warned }: Kept): RecordWarning[] {
  return warned.flatMap((place) => {
    const { index } = entries[place] ?? {};
    if (index === undefined || !warning) return [];
    return [{ index, field: warning.field, message: warning.message, severity: 'doubtful' }];
  });
}

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
