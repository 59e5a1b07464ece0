import { isRace, type Known, knownFrom, storeAccidents } from '../fleet/accidents/store.ts';
import { accidents } from '../fleet/lists/accidents.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordWritten } from '../fleet/record-changes.ts';
import type { Database } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { partsOf } from '../platform/parts.ts';
import { fanOut, holdNewLevels, workOf } from '../webhooks/deliveries/fan-out.ts';
import type { DeliveryMessage } from '../webhooks/deliveries/queue.ts';
import { ACCIDENT } from '../webhooks/notifications/types.ts';
import {
  type AccidentEntry,
  type Decided,
  decideAll,
  type EvidenceOfRecords,
  linkedAmong,
  readKnown,
} from './accidents.ts';

/** How often accidents are decided about if other calls change them meanwhile. */
const maxTries = 10;

/** How many accidents a statement has: D1 takes 2 MB in a parameter. */
const perStatement = 50;

type AccidentOptions = { notify: boolean; evidence: EvidenceOfRecords | undefined };

/**
 * Decides about the accidents of a call, and stores what becomes of them if they are as they are `known`: otherwise
 * they are read again. Returns what was decided, and work on new deliveries.
 * @throws Refusal, as `asCaller`
 */
export async function writeAccidents(
  env: Env,
  caller: Caller,
  source: Source,
  entries: AccidentEntry[],
  known: Known,
  options: AccidentOptions,
): Promise<{ decided: Decided; work: DeliveryMessage[] }> {
  for (let tries = 1; ; tries++) {
    const decided = decideAll(source, entries, known);
    try {
      return { decided, work: await store(env, caller, source, entries, decided, options) };
    } catch (error) {
      if (!isRace(error) || tries === maxTries) throw error;
    }
    known = knownFrom(await asCaller(env, caller, (db) => readKnown(db, source, entries)));
  }
}

/** Stores accidents with notifications and deliveries in one transaction, which may be repeated. */
async function store(
  env: Env,
  caller: Caller,
  source: Source,
  entries: AccidentEntry[],
  { toStore, toNotify }: Decided,
  { notify, evidence }: AccidentOptions,
): Promise<DeliveryMessage[]> {
  const linked = evidence ? linkedAmong(entries) : [];
  if (toStore.length === 0 && linked.length === 0) return [];
  const notifications = notify ? toNotify.map(({ notification }) => notification) : [];
  const news = { type: ACCIDENT, notifications, ofType: notifications.length } as const;
  const statements = (db: Database) => ({
    accidents: partsOf(toStore, perStatement).map((some) => storeAccidents(db, some)),
    notified: notifications.length > 0 ? fanOut(db, source, news) : undefined,
    held: notifications.some(({ level }) => level > 1)
      ? holdNewLevels(db, source, news)
      : undefined,
    changes: recordWritten(
      db,
      source,
      [{ kind: 'accident', table: accidents.table, ids: toStore.map(({ after }) => after.id) }],
      { quiet: !notify, bytes: JSON.stringify(toStore).length },
    ),
    evidence: partsOf(linked, perStatement).map((some) => evidence?.add(db, source, some)),
  });
  const { notified } = await asCaller(env, caller, statements, { repeatable: true });
  return notified ? workOf(source, news, notified) : [];
}
