import { type Accident, type AccidentRecord, decide } from '../fleet/accidents/decide.ts';
import { type Known, readForDecisions, type ToStore } from '../fleet/accidents/store.ts';
import { accidents as resource } from '../fleet/lists/accidents.ts';
import type { NewEvidence } from '../fleet/lists/field-objects.ts';
import type { Source } from '../fleet/lists/record.ts';
import type { Database, Statement } from '../platform/db/database.ts';
import { timestamp } from '../platform/fields.ts';
import type { NewNotification } from '../webhooks/notifications/insert.ts';
import { ACCIDENT } from '../webhooks/notifications/types.ts';
import type { Accepted, RecordWarning } from './schema.ts';

/** A record of an accident, and its index in the call. */
export type AccidentEntry = { index: number; record: AccidentRecord };

/** What is done with the files that records of accidents link to. */
export type EvidenceOfRecords = {
  /** Drops links that cannot be used, with warnings. */
  check: (env: Env, accepted: Accepted[]) => RecordWarning[];
  /** The statement that adds the files of these accidents. */
  add: (db: Database, source: Source, linked: Linked[]) => Statement;
};

/** A record of an accident that links to files. */
type Linked = AccidentRecord & { evidence: NewEvidence[] };

/** The records of accidents that link to files. */
export const linkedAmong = (entries: AccidentEntry[]): Linked[] =>
  entries.flatMap(({ record }) => (isLinked(record) ? [record] : []));

const isLinked = (record: AccidentRecord): record is Linked =>
  'evidence' in record && record.evidence != null;

/** The records of accidents in a call, which may have three levels of one. */
export const accidentsOf = (source: Source, accepted: Accepted[]): AccidentEntry[] =>
  accepted.flatMap(({ index, record }) => {
    if (record.kind !== 'accident') return [];
    const { sourceUpdatedAt } = record;
    return [{ index, record: { ...resource.toRow(record, source), sourceUpdatedAt } }];
  });

/** The statement that reads what decides about these records. */
export const readKnown = (db: Database, source: Source, entries: AccidentEntry[]) =>
  readForDecisions(
    db,
    source,
    entries.map(({ record }) => record),
  );

/** What becomes of the accidents of a call. */
export type Decided = {
  toStore: ToStore[];
  /** How many records change their accident. */
  changed: number;
  /** The levels to notify of, with the indexes of their records. */
  toNotify: { index: number; notification: NewNotification }[];
  warnings: RecordWarning[];
};

/** Decides about the records of a call, one after the other. */
export function decideAll(
  { now }: Source,
  entries: AccidentEntry[],
  { accidents, fleet }: Known,
): Decided {
  const changed = new Map<string, Accident>();
  const decided: Decided = { toStore: [], changed: 0, toNotify: [], warnings: [] };
  for (const { index, record } of entries) {
    const before = changed.get(record.id) ?? accidents.get(record.id)?.accident;
    const { after, toNotify, isUnclear } = decide(before, record, fleet, now);
    if (toNotify !== undefined)
      decided.toNotify.push({ index, notification: notificationOf(record, after, toNotify) });
    if (after === before) continue;
    changed.set(after.id, after);
    decided.changed++;
    if (isUnclear) decided.warnings.push({ index, ...unclear });
  }
  for (const [id, after] of changed)
    decided.toStore.push({ after, asRead: accidents.get(id)?.asRead ?? null });
  return decided;
}

const unclear = {
  field: 'vin',
  message: 'is that of several active vehicles of a connection: the accident has none of them',
  severity: 'doubtful',
} as const;

/** The notification of a level. A false alarm is level 2 with `isAccurate` false. */
function notificationOf(
  record: AccidentRecord,
  accident: Accident,
  level: number,
): NewNotification {
  const { latitude, longitude } = record.location;
  return {
    eventId: accident.id,
    level,
    type: ACCIDENT,
    vehicleId: accident.vehicleId,
    data: {
      eventId: accident.id,
      eventTime: timestamp(record.eventTime),
      vin: record.vin || accident.vin,
      connection: accident.connectionId,
      tSP: record.tSP,
      location: { latitude, longitude },
      notificationLevel: level,
      reportReady: record.reportReady && !accident.dismissed,
      isAccurate: record.isAccurate && !accident.dismissed,
    },
  };
}
