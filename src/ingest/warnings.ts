import type { Feed } from '../fleet/incidents/translate.ts';
import { isMapped } from '../fleet/incidents/translate.ts';
import { cleanText, isBlank } from '../fleet/lists/mend.ts';
import { type Kind, recordKinds } from '../fleet/lists/registry.ts';
import { vinOf } from '../fleet/lists/vin.ts';
import type { RecordWarning, Rejection, Warning } from './schema.ts';

/** How many warnings a call gets at most, and how many characters of a name they quote. */
export const maxWarnings = 20;
const maxRepeated = 100;

const fieldsOf = new Map<Kind, Set<string>>(
  recordKinds.map(({ kind, recordWords }) => [kind, new Set(['sourceId', ...Object.keys(recordWords)])]),
);

const vinForm = /^[A-HJ-NPR-Z0-9]{17}$/;
const impossibleVin = 'is not 17 letters and digits without I, O and Q: accidents are matched by VIN';

/** What warnings look at in an accepted record, so that its kind is valid. */
type Sent = { kind: Kind; incidentTypes?: unknown; vin?: unknown };

const textsIn = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (isBlank(one) ? [] : (cleanText(one) ?? [])));

/**
 * Unknown fields, incident labels without a mapping, and impossible VINs in `records`, which are those of a call as
 * sent.
 */
export function warningsOf(
  feed: Feed,
  records: unknown[],
  rejected: Rejection[],
  found: RecordWarning[],
): Warning[] {
  const refused = new Set(rejected.map(({ index }) => index));
  const warnings = new Map<string, Warning>();
  const warn = (index: number, field: string, message: string) => {
    const key = JSON.stringify([field, message]);
    const known = warnings.get(key);
    if (known) known.records++;
    else if (warnings.size < maxWarnings) warnings.set(key, { field, message, records: 1, index });
  };
  for (const { index, field, message } of found) warn(index, field, message);
  for (const [index, record] of records.entries()) {
    if (refused.has(index)) continue;
    const { kind, incidentTypes, vin } = record as Sent;
    for (const name of Object.keys(record as Sent))
      if (!fieldsOf.get(kind)?.has(name))
        warn(index, cut(name), `is not a field of a ${kind} record; it was ignored`);
    if (kind === 'safetyEvent')
      for (const word of new Set(textsIn(incidentTypes)))
        if (!isMapped(feed, word)) warn(index, 'incidentTypes', `maps ${cut(word)} to Other`);
    if (kind === 'vehicle' || kind === 'accident')
      for (const known of textsIn(vin).map(vinOf))
        if (known && !vinForm.test(known)) warn(index, 'vin', impossibleVin);
  }
  return [...warnings.values()];
}

const cut = (text: string): string =>
  text.length > maxRepeated ? `${text.slice(0, maxRepeated)}…`.toWellFormed() : text;
