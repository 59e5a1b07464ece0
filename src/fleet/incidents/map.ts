import * as v from 'valibot';
import { dumpedBytes } from '../../platform/db/dump.ts';
import { isPrintable, mustBePrintable } from '../../platform/fields.ts';
import { isIncidentType } from './types.ts';

const mustMap = "must map the provider's words to lists of normalised incident types";
/** Small enough that a backup with it can be restored. */
export const maxMapBytes = 32 * 1024;

/** A connection's own map of its provider's labels. */
export const IncidentTypeMap = v.pipe(
  v.record(
    v.pipe(v.string(), v.check(isPrintable, mustBePrintable)),
    v.array(v.pipe(v.string(mustMap), v.check(isIncidentType, mustMap)), mustMap),
    mustMap,
  ),
  v.check((map) => dumpedBytes(JSON.stringify(map)) <= maxMapBytes, 'can be at most 32 KiB as JSON'),
  v.metadata({ propertyNames: undefined }), // any text
);
