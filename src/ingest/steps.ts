import type { BatchItem } from 'drizzle-orm/batch';
import { noteWritten, type Written } from '../fleet/changes/note.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { type Database, statement } from '../platform/db/database.ts';
import { fanOut, holdNewLevels } from '../webhooks/deliveries/fan-out.ts';
import { type DeliveryMessage, wakeOf } from '../webhooks/deliveries/queue.ts';
import { ACCIDENT } from '../webhooks/notifications/types.ts';
import type { Batch } from './batches.ts';
import { knownIds } from './keep.ts';
import type { Rejection } from './schema.ts';

/** One statement of a call's transaction, and what is done with its result. */
export type Step = { statement: BatchItem<'sqlite'>; take: (result: unknown) => void };

/** What a call has come to: how many records changed something, which were refused, and what the queue has to carry. */
export type Tally = { changed: number; rejected: Rejection[]; messages: DeliveryMessage[] };

/**
 * The statements that take in the records of a call. Customers are notified before records are written: of what is
 * there already they have been.
 */
export function stepsFor(
  db: Database,
  source: Source,
  batches: Batch[],
  notify: boolean,
  tally: Tally,
): Step[] {
  const notified = notify ? batches.filter(({ notifier }) => notifier) : [];
  return [
    ...batches.flatMap((batch) => [
      ...(notified.includes(batch) ? notifySteps(db, source, batch, tally) : []),
      ...keep(db, batch, tally),
    ]),
    ...notified.flatMap((batch) => orderSteps(db, source, batch)),
    ...noteChanges(db, source, batches).map((note) => step(note, () => {})),
  ];
}

/** The notifications of a batch, and their deliveries. */
const notifySteps = (db: Database, source: Source, batch: Batch, tally: Tally): Step[] => [
  ...fanOutSteps(db, source, batch, tally),
  ...(batch.notifier ? [step(batch.notifier.insert(db, source, batch.notifications), () => {})] : []),
];

/** Why a record is refused that refers to something unknown. */
export const unknownParent = (kind: string): string => `${kind} is neither known nor in the same call`;

function keep(db: Database, { keeper, entries }: Batch, tally: Tally): Step[] {
  const rows = entries.map(({ row }) => row);
  // D1's own count has what triggers change as well.
  const written = [
    step(keeper.write(db, rows), () => {}),
    step(statement<{ count: number }>(db)`select changes() as count`, ([row]) => {
      tally.changed += row?.count ?? 0;
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

/** The deliveries of a kind's notifications, which are all of one type. */
function fanOutSteps(db: Database, source: Source, { notifications, ofKind }: Batch, tally: Tally): Step[] {
  const [first] = notifications;
  if (!first) return [];
  const { idle, deliveries, rest } = fanOut(db, source, first.type, notifications, ofKind);
  return [
    step(idle, (webhooks) => {
      const ids = webhooks.map(({ webhookId }) => webhookId);
      tally.messages.push(...wakeOf(source.accountId, ids, first.type));
    }),
    step(deliveries, () => {}),
    step(rest, (fanOuts) => tally.messages.push(...fanOuts.map(({ id }) => ({ fanOut: id })))),
  ];
}

/** Later levels of accidents wait for earlier ones. */
function orderSteps(db: Database, source: Source, { notifications, ofKind }: Batch): Step[] {
  const later = notifications.some(({ type, level }) => type === ACCIDENT && level > 1);
  return later ? [step(holdNewLevels(db, source, notifications, ofKind), () => {})] : [];
}

const kept = recordKinds.flatMap((resource) =>
  'table' in resource ? [{ kind: resource.kind, table: resource.table }] : [],
);

/** The statement that notes which of a call's records have changed, for the change feed; none if no table keeps them. */
function noteChanges(db: Database, source: Source, batches: Batch[]) {
  const entries = batches.flatMap((batch) => batch.entries);
  const written = kept.flatMap(({ kind, table }): Written[] => {
    const ids = entries.flatMap(({ record, row }) => (record.kind === kind ? [row.id] : []));
    return ids.length > 0 ? [{ kind, table, ids: [...new Set(ids)] }] : [];
  });
  return written.length > 0 ? [noteWritten(db, source, written)] : [];
}

const step = <T>(statement: BatchItem<'sqlite'> & { _: { result: T } }, take: (result: T) => void): Step => ({
  statement,
  take: take as Step['take'], // D1 returns a result for each statement, in their order
});
