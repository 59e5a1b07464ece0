import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';

/** The namespace under which the ids of records are derived. A change would orphan all records. */
const RECORDS = '6f0c1f9e-3f5d-5c0e-9a57-0d6f6f5b8f21';

let latest = { ms: 0, seq: 0 };

/** A new id, of now or of `ms` since 1970. Ids sort by time, and those of an isolate's millisecond as they were made. */
export function newId(ms = Date.now()): string {
  // Isolates that make ids in the same millisecond begin anywhere.
  const seq = ms === latest.ms ? latest.seq + 1 : Math.floor(Math.random() * 2 ** 31);
  latest = { ms, seq };
  return uuidV7({ msecs: ms, seq });
}

/** The id of a connector's record: the same for the same connection, kind and sourceId, always. */
export const recordId = (connectionId: string, kind: string, sourceId: string): string =>
  uuidV5(`${connectionId}/${kind}/${sourceId}`, RECORDS);

/** The lowest id that can have been created at a time, to select ids by time. */
export const firstIdAt = (ms: number): string => {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
};

/** When one of our own ids was created (milliseconds since 1970). */
export const createdAtOf = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Sorts after every id. */
export const afterAllIds = '~';
