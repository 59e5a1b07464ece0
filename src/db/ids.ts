import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';

/** The namespace under which the ids of records are derived. Changing it would orphan every record. */
const RECORDS = '6f0c1f9e-3f5d-5c0e-9a57-0d6f6f5b8f21';

/** A new id, ordered by the time of its making. */
export const newId = (): string => uuidV7();

/** The id of a connector's record: the same for the same connection, kind and sourceId, always. */
export const recordId = (connectionId: string, kind: string, sourceId: string): string =>
  uuidV5(`${connectionId}/${kind}/${sourceId}`, RECORDS);
