import * as v from 'valibot';
import { dumpedBytes } from '../../platform/db/dump.ts';
import { isPrintable, mustBePrintable, TextLists } from '../../platform/fields.ts';
import { isIncidentType } from './types.ts';

const mustMap = "must map the provider's words to lists of normalised incident types";
/** Small enough that a backup with it can be restored. */
export const maxMapBytes = 32 * 1024;

/** A connection's own map of its provider's labels. */
export const IncidentTypeMap = v.pipe(
  TextLists,
  v.check((map) => Object.keys(map).every(isPrintable), mustBePrintable),
  v.check((map) => Object.values(map).flat().every(isIncidentType), mustMap),
  v.check(
    (map) => dumpedBytes(JSON.stringify(map)) <= maxMapBytes,
    'can be at most 32 KiB as JSON',
  ),
  v.metadata({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  }),
);
