import * as v from 'valibot';
import { Timestamp } from '../fields.ts';
import { incidentTypes, plain } from '../incidents/incidents.ts';

/**
 * What lists understand in their query, as schemas of a parameter's values (spec 8.1, design 7). Metadata says what a
 * client writes, as JSON Schema for the API's document.
 */
const last = v.pipe(
  v.array(v.string()),
  v.transform((values) => values.at(-1) ?? ''),
);

export const Limit = v.optional(
  v.pipe(
    last,
    v.regex(/^\d{1,15}$/, 'must be a whole number of at least 1'),
    v.transform((text) => Math.min(Number(text), 500)),
    v.minValue(1, 'must be a whole number of at least 1'),
    v.metadata({ type: 'integer', minimum: 1, default: 50 }),
  ),
  ['50'],
);

export const Text = v.pipe(
  last,
  v.maxLength(1000, 'can be at most 1000 characters'),
  v.metadata({ type: 'string', maxLength: 1000 }),
);

/** RFC 3339, or a date, which stands for its midnight UTC; in milliseconds. */
export const Time = v.pipe(
  last,
  v.transform((text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text.replace(/ /g, '+'))),
  Timestamp,
  v.metadata({
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
  }),
);

/** A list that repeats the parameter or takes commas. */
const list = v.pipe(
  v.array(v.string()),
  v.transform((values) => [
    ...new Set(values.flatMap((value) => value.split(',')).map((item) => item.trim())),
  ]),
  v.maxLength(100, 'can be at most 100'),
);

export const Ids = v.pipe(
  list,
  v.check((ids) => ids.every((id) => v.is(v.pipe(v.string(), v.uuid()), id)), 'must be UUIDs'),
  v.transform((ids) => ids.map((id) => id.toLowerCase())),
  v.metadata({ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 100 }),
);

const typesByPlainName = new Map(incidentTypes.map((type) => [plain(type), type]));

export const EventTypes = v.pipe(
  list,
  v.check(
    (names) => names.every((name) => typesByPlainName.has(plain(name))),
    'must be normalised incident types',
  ),
  v.transform((names) => [...new Set(names.flatMap((name) => typesByPlainName.get(plain(name)) ?? []))]),
  v.metadata({ type: 'array', items: { type: 'string', enum: incidentTypes }, maxItems: 100 }),
);

export const Risk = v.pipe(
  last,
  v.picklist(['1', '2', '3', '4', '5'], 'must be from 1 to 5'),
  v.transform(Number),
  v.metadata({ type: 'integer', minimum: 1, maximum: 5 }),
);

export const VehicleStatus = v.pipe(
  last,
  v.picklist(['active', 'inactive'], 'must be active or inactive'),
  v.metadata({ type: 'string', enum: ['active', 'inactive'] }),
);

export const DriverStatus = v.pipe(
  last,
  v.picklist(['1', '0'], 'must be 1 (active) or 0 (inactive)'),
  v.transform(Number),
  v.metadata({ type: 'integer', enum: [1, 0] }),
);
