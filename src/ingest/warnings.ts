import { type Feed, isMapped } from '../fleet/incidents/translate.ts';
import { cleanText, isBlank } from '../fleet/lists/mend.ts';
import { type Kind, recordKinds } from '../fleet/lists/registry.ts';
import { vinOf } from '../fleet/lists/vin.ts';
import type { RecordWarning, Rejection, Warning } from './schema.ts';

/** How many warnings a call gets at most, and how many characters of a name they quote. */
export const maxWarnings = 20;
const maxRepeated = 100;

/** The warnings of a call; the same about several records, which are as sent, is one. */
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
  for (const [index, record] of records.entries())
    if (!refused.has(index))
      for (const [field, message] of warningsAbout(record as Sent, feed)) warn(index, field, message);
  return [...warnings.values()];
}

type Sent = { kind: Kind; incidentTypes?: unknown; vin?: unknown };

const fieldsOf = new Map<Kind, Set<string>>(
  recordKinds.map(({ kind, recordFields }) => [kind, new Set(['kind', ...Object.keys(recordFields)])]),
);

const vinForm = /^[A-HJ-NPR-Z0-9]{17}$/;
const impossibleVin = 'is not 17 letters and digits without I, O and Q: accidents are matched by VIN';

function* warningsAbout(record: Sent, feed: Feed): Generator<[field: string, message: string]> {
  const { kind, incidentTypes, vin } = record;
  for (const name of Object.keys(record))
    if (!fieldsOf.get(kind)?.has(name))
      yield [cut(name), `is not a field of a ${kind} record; it was ignored`];
  if (kind === 'safetyEvent')
    for (const word of new Set(textsIn(incidentTypes)))
      if (!isMapped(feed, word))
        yield ['incidentTypes', `has the unknown label ${cut(word)}, which becomes Other`];
  if (kind === 'vehicle' || kind === 'accident')
    for (const known of textsIn(vin).map(vinOf))
      if (known && !vinForm.test(known)) yield ['vin', impossibleVin];
}

const textsIn = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (isBlank(one) ? [] : (cleanText(one) ?? [])));

const cut = (text: string): string =>
  text.length > maxRepeated ? `${text.slice(0, maxRepeated)}…`.toWellFormed() : text;
