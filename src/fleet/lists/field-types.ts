import * as v from 'valibot';
import {
  EmailAddress,
  isPrintable,
  mustBePrintable,
  PastTime,
  Timestamp,
  timestamp,
  tooLong,
} from '../../platform/fields.ts';
import {
  QueryBoolean,
  QueryChoice,
  QueryCode,
  QueryIds,
  QueryInteger,
  QueryText,
} from '../../platform/query.ts';
import type { Field, Holds, Members, Referable, Scalar } from './field.ts';
import {
  cleanText,
  cutText,
  jsonBytes,
  mendList,
  mendMembers,
  mendNumber,
  mendTime,
  mendWord,
} from './mend.ts';
import { upperVin, vinOf } from './vin.ts';

const field = <I extends v.GenericSchema, O extends v.GenericSchema>(
  holds: Holds,
  input: I,
  output: O,
  description: string,
  example: unknown,
  more: Partial<Pick<Field, 'read' | 'query' | 'most' | 'mend'>> = {},
): Field<v.InferInput<I>, v.InferOutput<I>, v.InferOutput<O>, 'given'> => ({
  description,
  example,
  input,
  output,
  use: 'given',
  holds,
  nullable: false,
  ...more,
});

// Checks that JSON Schema can express have metadata for the API's document beside them.

const Words = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'));
const Characters = (max: number) =>
  v.pipe(Words, v.maxLength(max, tooLong(max)), v.check(isPrintable, mustBePrintable));
const Bounded = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.check((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
    v.metadata({ minimum: min, maximum: max }),
  );
const Uuid = v.pipe(v.string(), v.uuid());
const TimeOutput = v.pipe(v.string(), v.isoTimestamp());

/** Text that people read: what is too long is cut. */
export const text = (max: number, description: string, example: string) =>
  field('text', Characters(max), v.string(), description, example, {
    query: QueryText,
    mend: cutText(max),
  });

/** Text that would be wrong if it were cut, such as a number plate. */
export const wholeText = (max: number, description: string, example: string) => ({
  ...text(max, description, example),
  mend: cleanText,
});

/** Text of at most `max` bytes, for what other records copy. */
export const shortText = (max: number, description: string, example: string) => ({
  ...text(max, description, example),
  input: v.pipe(Characters(max), withinBytes(max + 2, `can be at most ${max} bytes`)), // of which two are quotes
  mend: cutText(max, max + 2),
});

/** The most bytes of a VIN, some of which are longer than the standard's 17 characters. */
export const maxVinBytes = 40;

/** A VIN, in upper case wherever it is kept or compared; empty for a placeholder. */
export const vin = (description: string) => {
  const { input, ...field } = shortText(maxVinBytes, description, '1FUJGLDR5CLBP8834');
  return { ...field, input: v.pipe(input, v.transform(vinOf)), query: QueryVin, mend: cleanText };
};

const QueryVin = v.pipe(QueryText, v.transform(upperVin), v.metadata({ type: 'string', maxLength: 1000 }));

export const email = (description: string, example: string) =>
  field('text', EmailAddress, v.string(), description, example, { mend: cleanText });

/** The limits of a list in a record: number of values, characters of each, and bytes in all as JSON. */
export type ListLimits = { max: number; length: number; bytes: number };

/** More values than any field accepts. */
export const tooManyValues = 101;

/** An absolute https URL of at most `max` characters. The limit is not in the contract. */
export const httpsUrl = (max: number, description: string, example: string) => {
  const Address = v.pipe(
    Words,
    v.check((value) => value.length <= max, tooLong(max)),
    v.check(isPrintable, mustBePrintable),
    v.check(isHttps, 'must be an absolute https URL'),
    v.metadata({ format: 'uri' }),
  );
  return field('text', Address, v.pipe(v.string(), v.url()), description, example, {
    most: `At most ${max.toLocaleString('en')} characters.`,
    mend: cleanText,
  });
};

const isHttps = (value: string): boolean => URL.parse(value)?.protocol === 'https:';

export const texts = (limits: ListLimits, description: string, example: string[]) =>
  listOf(v.pipe(Words, v.check(isPrintable, mustBePrintable)), limits, description, example);

export const emails = (limits: ListLimits, description: string, example: string[]) =>
  listOf(EmailAddress, limits, description, example);

const listOf = <S extends v.GenericSchema<string>>(
  each: S,
  { max, length, bytes }: ListLimits,
  description: string,
  example: string[],
) => {
  // The limits are not in the contract, so that they can follow what fleets need.
  const Value = v.pipe(
    each,
    v.check((value) => value.length <= length, tooLong(length)),
  );
  const Values = v.pipe(
    v.array(Value),
    v.check((values) => values.length <= max, `can be at most ${max}`),
    withinBytes<string[]>(bytes, `can be at most ${bytes.toLocaleString('en')} bytes as JSON`),
  );
  const most = `At most ${max}, each of at most ${length} characters, and ${bytes.toLocaleString('en')} bytes as JSON.`;
  const mend = mendList(Value, max, bytes);
  return field(['text'], Values, v.array(v.string()), description, example, { read: JSON.parse, most, mend });
};

/** Whether a value has at most `max` bytes as JSON. */
const withinBytes = <T extends string | string[]>(max: number, message: string) =>
  v.check((value: T) => jsonBytes(value) <= max, message);

export const number = (min: number, max: number, description: string, example: number) =>
  field('number', Bounded(min, max), v.number(), description, example, { mend: mendNumber });

/** A number of which providers may send the negative. */
export const magnitude = (max: number, description: string, example: number) => ({
  ...number(0, max, description, example),
  mend: (value: unknown) => Math.abs(mendNumber(value) ?? Number.NaN),
});

/** A whole number from `min` to `max`. The bounds are not in the contract, so that they can be widened. */
export const integer = (min: number, max: number, description: string, example: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  const Integer = v.pipe(
    v.number(),
    v.check((value) => Number.isInteger(value) && value >= min && value <= max, message),
    v.metadata({ type: 'integer', minimum: min, maximum: max }),
  );
  const query = QueryInteger(min, max);
  return field('integer', Integer, v.pipe(v.number(), v.integer()), description, example, {
    query,
    mend: mendNumber,
  });
};

/** A whole number on a scale that is part of the contract, from `min` to `max`. */
export const scale = (min: number, max: number, description: string, example: number) => ({
  ...integer(min, max, description, example),
  output: v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max)),
});

export const boolean = (description: string, example: boolean) =>
  field('boolean', v.boolean(), v.boolean(), description, example, {
    read: Boolean,
    query: QueryBoolean,
    mend: mendWord({ true: true, 1: true, false: false, 0: false }),
  });

/** A time, at most a day ahead: RFC 3339 in records and lists, milliseconds since 1970 in D1. */
export const time = (description: string, example = '2026-11-20T20:00:00.000Z') =>
  field('time', PastTime, TimeOutput, description, example, { read: timestamp, mend: mendTime });

export const choice = <const T extends string>(values: readonly T[], description: string, example: T) => {
  const message = `must be ${alternatives(values)}`;
  const query = QueryChoice(values, message);
  return field('text', v.picklist(values, message), v.picklist(values), description, example, {
    query,
    mend: mendWord(Object.fromEntries(values.map((value) => [value, value]))),
  });
};

/** One of a few numbers with meanings. */
export const code = <const T extends number>(
  words: { [word: string]: T },
  description: string,
  example: NoInfer<T>,
) => {
  const values = Object.values(words);
  const message = `must be ${alternatives(Object.entries(words).map(([word, value]) => `${value} (${word})`))}`;
  const Code = v.pipe(v.picklist(values, message), v.metadata({ type: 'integer' }));
  const query = QueryCode(values, message);
  return field('integer', Code, Code, description, example, { query, mend: mendWord(words) });
};

/** `a, b or c` */
export const alternatives = (values: readonly string[]): string =>
  [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ');

/** How long a provider's name for a place can be, in characters. */
export const maxAddressLength = 200;

const PlaceInput = {
  latitude: Bounded(-90, 90),
  longitude: Bounded(-180, 180),
  address: v.nullish(Characters(maxAddressLength)),
};
const PlaceOutput = { latitude: v.number(), longitude: v.number(), address: v.nullable(v.string()) };

/** Objects are stored without nulls, so that equal ones are equal as JSON. */
const withoutNulls = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));

/** Devices without a position send 0, 0. */
const isSomewhere = <T extends { latitude: number; longitude: number }>() =>
  v.check<T, string>(
    ({ latitude, longitude }) => latitude !== 0 || longitude !== 0,
    'must not be 0, 0, which stands for no position',
  );

/** The components `Location` and `VehicleLocation` of the API's documents, in records and in lists. */
export const LocationInput = v.pipe(v.object(PlaceInput), isSomewhere(), v.transform(withoutNulls));
export const LocationOutput = v.object(PlaceOutput);
export const VehicleLocationInput = v.pipe(
  v.object({
    ...PlaceInput,
    altitudeMeters: v.nullish(Bounded(-1000, 20_000), null),
    speedKph: v.nullish(Bounded(0, 1000), null),
    timestamp: v.pipe(Timestamp, v.transform(timestamp)),
  }),
  isSomewhere(),
  v.transform(withoutNulls),
);
export const VehicleLocationOutput = v.object({
  ...PlaceOutput,
  altitudeMeters: v.nullable(v.number()),
  speedKph: v.nullable(v.number()),
  timestamp: TimeOutput,
});

const mendScalar = (holds: Scalar | undefined) =>
  ({ number: mendNumber, text: cutText(maxAddressLength), time: mendTime })[String(holds)] ?? cleanText;

type Schemas = { [name: string]: v.GenericSchema };

const objectOf = <I extends v.GenericSchema & { entries: Schemas }, O extends v.GenericSchema>(
  members: Members,
  input: I,
  output: O,
  description: string,
  example: unknown,
) => {
  const none = Object.fromEntries(Object.keys(members).map((name) => [name, null]));
  const read = (stored: string) => ({ ...none, ...JSON.parse(stored) });
  const mend = mendMembers(input.entries, (name) => mendScalar(members[name]));
  return field(members, input, output, description, example, { read, mend });
};

export const AccidentLevel = v.object({
  notificationLevel: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3)),
  receivedAt: TimeOutput,
});
const AccidentLevels = v.array(AccidentLevel);

const denver = { latitude: 39.7392, longitude: -104.9903, address: 'Colfax Ave, Denver, CO' };
const place: Members = { latitude: 'number', longitude: 'number', address: 'text' };

/** A place in decimal degrees, with the provider's name for it. */
export const location = (description: string) =>
  objectOf(place, LocationInput, LocationOutput, description, denver);

/** A place, with when a vehicle was there and its speed. */
export const vehicleLocation = (description: string) => {
  const time = '2026-11-20T20:00:00.000Z';
  const example = { ...denver, altitudeMeters: 1609, speedKph: 88, timestamp: time };
  const members: Members = { ...place, altitudeMeters: 'number', speedKph: 'number', timestamp: 'time' };
  return objectOf(members, VehicleLocationInput, VehicleLocationOutput, description, example);
};

/** Levels of an accident, each with when it was received. */
export const accidentLevels = (description: string) => {
  const receivedAt = '2026-11-20T20:00:02.114Z';
  const example = [{ notificationLevel: 1, receivedAt }];
  const holds: Holds = [{ notificationLevel: 'integer', receivedAt: 'time' }];
  return field(holds, AccidentLevels, AccidentLevels, description, example, { read: JSON.parse });
};

export const Handled = v.object({
  at: TimeOutput,
  by: v.string(),
  note: v.nullable(v.string()),
});

/** Who did something about a record in the portal, when, and their note. */
export const handled = (description: string) => {
  const example = {
    at: '2026-11-20T20:04:00.000Z',
    by: 'ann@example.com',
    note: 'Driver is fine, towing ordered',
  };
  return objectOf({ at: 'time', by: 'text', note: 'text' }, Handled, Handled, description, example);
};

/** An id given by the service. */
export const uuid = (description: string, example: string) =>
  field('uuid', Uuid, Uuid, description, example, { query: QueryIds });

/**
 * The id of another record of the same connection. If required, that record must be known or in the same call;
 * otherwise it may come later.
 */
export const reference = (
  resource: Referable,
  description: string,
): Field<string, string, string, 'reference'> => ({
  ...field('uuid', Characters(200), Uuid, description, resource.itemExample.id, {
    query: QueryIds,
    mend: cleanText,
  }),
  use: 'reference',
  refersTo: resource,
});
