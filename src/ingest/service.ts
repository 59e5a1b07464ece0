import * as v from 'valibot';
import { asCaller, type Caller } from '../db/guard.ts';
import { fanOut } from '../deliveries/fan-out.ts';
import { type Message, wakeOf } from '../deliveries/queue.ts';
import { fieldError, sentence } from '../fields.ts';
import { insertAccidentNotifications, insertEventNotifications } from '../notifications/insert.ts';
import { ACCIDENT, EVENT } from '../notifications/types.ts';
import {
  accidentNotification,
  driverRow,
  eventNotification,
  eventRow,
  type Source,
  tripRow,
  vehicleRow,
} from './rows.ts';
import { IngestRecord, type Outcome, type RecordOf, type Rejection } from './schema.ts';
import { knownVehicles, upsertDrivers, upsertEvents, upsertTrips, upsertVehicles } from './statements.ts';

/**
 * Takes in up to 500 records of one connection as one transaction, with the notifications and deliveries
 * that follow from them (design 8). Records are refused one by one; the others land. `notify: false` tells
 * nobody, now or later. Returns the outcome, and the messages that have the new deliveries made.
 *
 * @throws Refusal: unauthenticated, forbidden, unavailable
 */
export async function ingest(
  env: Env,
  caller: Caller,
  source: Source,
  body: { records: unknown[]; notify: boolean },
): Promise<{ outcome: Outcome; messages: Message[] }> {
  const { records, rejected } = validate(body.records);
  const current = newest(records);

  const drivers = of(current, 'driver').map(({ record }) => driverRow(source, record));
  const vehicles = of(current, 'vehicle').map(({ record }) => vehicleRow(source, record));
  const trips = of(current, 'trip').map((item) => ({ ...item, row: tripRow(source, item.record) }));
  const events = of(current, 'safetyEvent').map((item) => ({ ...item, row: eventRow(source, item.record) }));
  const accidents = of(current, 'accident').map(({ record }) => accidentNotification(source, record));
  const told = body.notify
    ? events.map(({ row, record }) => eventNotification(row, record.recipients ?? []))
    : [];
  const ofVehicles = [...trips, ...events];
  const tripRows = trips.map(({ row }) => row);
  const eventRows = events.map(({ row }) => row);
  const vehicleOf = new Set(ofVehicles.map(({ row }) => row.vehicleId));

  const [
    newDrivers,
    newVehicles,
    known,
    newTrips,
    idleForAccidents,
    idleForEvents,
    ,
    ,
    restOfAccidents,
    restOfEvents,
    ,
    newLevels,
    newEvents,
  ] = await asCaller(
    env,
    caller,
    (db) => {
      const ofAccidents = fanOut(db, source, ACCIDENT, body.notify ? accidents : []);
      const ofEvents = fanOut(db, source, EVENT, told);
      return [
        upsertDrivers(db, drivers),
        upsertVehicles(db, vehicles),
        knownVehicles(db, [...vehicleOf]),
        upsertTrips(db, tripRows),
        ofAccidents.idle,
        ofEvents.idle,
        ofAccidents.deliveries,
        ofEvents.deliveries,
        ofAccidents.rest,
        ofEvents.rest,
        insertEventNotifications(db, source, told),
        insertAccidentNotifications(db, source, accidents),
        upsertEvents(db, eventRows),
      ];
    },
    { repeatable: true },
  );

  const vehicleIds = new Set(known.map(({ id }) => id));
  for (const { index, record, row } of ofVehicles)
    if (!vehicleIds.has(row.vehicleId))
      rejected.push({
        index,
        sourceId: record.sourceId,
        message: 'vehicle is neither known nor in the same call',
      });
  const accepted = [newDrivers, newVehicles, newTrips, newEvents, newLevels].reduce(
    (n, { meta }) => n + meta.changes,
    0,
  );
  const woken = [...new Set([...idleForAccidents, ...idleForEvents].map(({ webhookId }) => webhookId))];
  return {
    outcome: {
      accepted,
      unchanged: body.records.length - accepted - rejected.length,
      rejected: rejected.sort((a, b) => a.index - b.index),
    },
    messages: [
      ...wakeOf(source.accountId, woken),
      ...[...restOfAccidents, ...restOfEvents].map(({ id }) => ({ fanOut: id })),
    ],
  };
}

type Indexed<R = IngestRecord> = { index: number; record: R };

function validate(inputs: unknown[]): { records: Indexed[]; rejected: Rejection[] } {
  const records: Indexed[] = [];
  const rejected: Rejection[] = [];
  for (const [index, input] of inputs.entries()) {
    const result = v.safeParse(IngestRecord, input);
    if (result.success) records.push({ index, record: result.output });
    else rejected.push({ index, sourceId: sourceIdOf(input), message: problemsOf(result.issues) });
  }
  return { records, rejected };
}

const problemsOf = (issues: v.BaseIssue<unknown>[]): string =>
  issues
    .slice(0, 5)
    .map((issue) => {
      const error = fieldError(issue);
      return error.field ? sentence(error) : `record ${error.message}`;
    })
    .join('; ');

function sourceIdOf(input: unknown): string | null {
  const id = typeof input === 'object' && input && 'sourceId' in input ? input.sourceId : null;
  return typeof id === 'string' && id.length <= 200 ? id : null;
}

/** Of what a call names more than once, the newest version, or else the last. */
function newest(records: Indexed[]): Indexed[] {
  const byKey = new Map<string, Indexed>();
  for (const next of records) {
    const key = JSON.stringify([
      next.record.kind,
      next.record.sourceId,
      next.record.kind === 'accident' && next.record.notificationLevel,
    ]);
    const before = byKey.get(key);
    const older = (next.record.sourceUpdatedAt ?? Infinity) < (before?.record.sourceUpdatedAt ?? 0);
    if (!older) byKey.set(key, next);
  }
  return [...byKey.values()];
}

const of = <K extends IngestRecord['kind']>(records: Indexed[], kind: K) =>
  records.filter((item): item is Indexed<RecordOf<K>> => item.record.kind === kind);
