import { sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { addHeldBack } from '../fleet/connections.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { recordWritten, type Written } from '../fleet/record-changes.ts';
import { type Database, read } from '../platform/db/database.ts';
import { fanOut, holdNewLevels } from '../webhooks/deliveries/fan-out.ts';
import { wakeOf } from '../webhooks/deliveries/queue.ts';
import { addClaim, type NewWork } from '../webhooks/deliveries/send/first-claim.ts';
import { insertNew, newAmong } from '../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT } from '../webhooks/notifications/types.ts';
import type { Batch, Entry } from './batches.ts';
import { knownIds } from './keep.ts';
import type { RecordWarning, Rejection } from './schema.ts';

/** A statement of a call's transaction, and what to do with its result. */
export type Step = { statement: BatchItem<'sqlite'>; take: (result: unknown) => void };

/** The result of a call so far: counts and refused records, warnings, and messages for the queue. */
export type Tally = {
  changed: number;
  rejected: Rejection[];
  warnings: RecordWarning[];
  heldBack: number;
  messages: NewWork[];
};

/**
 * The statements that store the records of a call. Notifications come before the records, because a record that exists
 * has been notified.
 */
export function stepsFor(
  db: Database,
  source: Source,
  batches: Batch[],
  { notify, claims }: { notify: boolean; claims: boolean },
  tally: Tally,
): Step[] {
  const notified = notify ? batches.filter(({ notifications }) => notifications.length > 0) : [];
  const claiming = claims && notified.find(({ notifications: [first] }) => first?.type === EVENT);
  return [
    ...batches.flatMap((batch) => [
      ...(notified.includes(batch) ? notifySteps(db, source, batch, batch === claiming, tally) : []),
      ...(notify && batch.heldBack.length > 0 ? heldBackSteps(db, source, batch, tally) : []),
      ...keep(db, batch, tally),
    ]),
    ...notified.flatMap((batch) => orderSteps(db, source, batch)),
    ...noteChanges(db, source, batches, !notify),
  ];
}

/** The notifications of a batch, all of one type, and their deliveries. */
function notifySteps(db: Database, source: Source, batch: Batch, claims: boolean, tally: Tally): Step[] {
  const { notifications, ofKind } = batch;
  const type = notifications[0]?.type === EVENT ? EVENT : ACCIDENT;
  const made = fanOut(db, source, type, notifications, { inAll: ofKind, claims });
  return [
    step(made.idle, (webhooks) => {
      const ids = webhooks.map(({ webhookId }) => webhookId);
      tally.messages.push(...wakeOf(source.accountId, ids, type));
    }),
    step(made.deliveries),
    step(made.rest, (fanOuts) => tally.messages.push(...fanOuts.map(({ id }) => ({ fanOut: id })))),
    step(insertNew(db, source, type, notifications)),
    ...made.claimed.map((one) =>
      step(one, (claimed) => addClaim(tally.messages, claimed, notifications.length, source.now)),
    ),
  ];
}

export const unknownParent = (kind: string): string => `${kind} is neither known nor in the same call`;

/** Counts new safety events that are too old for notifications. */
function heldBackSteps(db: Database, source: Source, { heldBack }: Batch, tally: Tally): Step[] {
  const count = newAmong(heldBack);
  return [
    step(addHeldBack(db, source, count)),
    step(read<{ count: number }>(db)`select ${count} as count`, ([row]) => {
      tally.heldBack += row?.count ?? 0;
    }),
  ];
}

type Count = { count: number; warned: string | null };

function keep(db: Database, { keeper, entries }: Batch, tally: Tally): Step[] {
  const rows = entries.map(({ row }) => row);
  const { warning } = keeper;
  const places = warning ? sql`iif(changes() > 0, ${warning.among(rows)}, null)` : sql`null`;
  const warn = (entry: Entry | undefined) => {
    if (!warning || !entry) return;
    const { field, message } = warning;
    const { kind, sourceId } = entry.record;
    tally.warnings.push({ index: entry.index, kind, sourceId, field, message });
  };
  // D1's own count includes the changes of triggers.
  const written = [
    step(keeper.write(db, rows)),
    step(read<Count>(db)`select changes() as count, ${places} as warned`, ([row]) => {
      tally.changed += row?.count ?? 0;
      for (const at of JSON.parse(row?.warned ?? '[]')) warn(entries[at]);
    }),
  ];
  const checked = keeper.parents.map(({ key, kind, table }) =>
    step(knownIds(db, table, [...new Set(rows.map((row) => String(row[key])))]), (found) => {
      const known = new Set(found.map(({ id }) => id));
      const orphans = entries.filter(({ row }) => !known.has(String(row[key])));
      const message = unknownParent(kind);
      tally.rejected.push(
        ...orphans.map(({ index, record }) => ({ index, sourceId: record.sourceId, message })),
      );
    }),
  );
  return [...written, ...checked];
}

/** Later levels of accidents wait for earlier ones. */
function orderSteps(db: Database, source: Source, { notifications, ofKind }: Batch): Step[] {
  const later = notifications.some(({ type, level }) => type === ACCIDENT && level > 1);
  return later ? [step(holdNewLevels(db, source, notifications, ofKind))] : [];
}

/** The statement that records which of a call's records have changed, for the change feed. */
function noteChanges(db: Database, source: Source, batches: Batch[], quiet: boolean): Step[] {
  const entries = batches.flatMap((batch) => batch.entries);
  const written = recordKinds.flatMap(({ kind, table }): Written[] => {
    const ids = entries.flatMap(({ record, row }) => (record.kind === kind ? [row.id] : []));
    return ids.length > 0 ? [{ kind, table, ids: [...new Set(ids)] }] : [];
  });
  return written.length > 0 ? [step(recordWritten(db, source, written, quiet))] : [];
}

const step = <T>(
  statement: BatchItem<'sqlite'> & { _: { result: T } },
  take: (result: T) => void = () => {},
): Step => ({
  statement,
  take: take as Step['take'], // D1 returns a result for each statement, in order
});
