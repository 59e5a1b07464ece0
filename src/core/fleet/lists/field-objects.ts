import * as v from 'valibot';
import { Timestamp, timestamp } from '../../platform/fields.ts';
import { cleanMembers, usable } from './clean.ts';
import { type Field, type Fields, type Members, optional } from './field.ts';
import { choice, field, httpsUrl, number, scale, text, time } from './field-types.ts';

/** The members of a location. */
export const place = {
  latitude: number(-90, 90, 'Degrees north of the equator.', 39.7392),
  longitude: number(-180, 180, 'Degrees east of Greenwich.', -104.9903),
  address: optional(text(200, "The provider's name of it.", 'Colfax Ave, Denver, CO')),
};
/** The members of where a vehicle was. */
export const vehiclePlace = {
  ...place,
  altitudeMeters: optional(number(-1000, 20_000, 'Metres above sea level.', 1609)),
  speedKph: optional(number(0, 1000, 'Kilometres per hour.', 88)),
  timestamp: { ...time('When it was there.'), input: v.pipe(Timestamp, v.transform(timestamp)) },
};
const level = {
  notificationLevel: scale(1, 3, 'The level.', 1),
  receivedAt: time('When the service first received it.', '2026-11-20T20:00:02.114Z'),
};
const handling = {
  at: time('When they did it.', '2026-11-20T20:04:00.000Z'),
  by: text(320, 'Their email address.', 'ann@example.com'),
  note: optional(text(500, 'Their note, or null.', 'Driver is fine, towing ordered')),
};

const each = <T>(members: Fields, value: (member: Field) => T): { [name: string]: T } =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, value(member)]));

type Inputs<M> = {
  [N in keyof M]: M[N] extends Field<infer In, infer Kept> ? v.GenericSchema<In, Kept> : never;
};
const inputOf = <M extends Fields>(members: M) =>
  v.object(each(members, ({ input }) => input) as Inputs<M>);

type Outputs<M extends Fields> = { [N in keyof M]: M[N]['output'] };
const outputOf = <M extends Fields>(members: M) =>
  v.object(each(members, ({ output }) => output) as Outputs<M>);

/** Devices without a position send 0, 0. */
const isSomewhere = <T extends { latitude: number; longitude: number }>() =>
  v.check<T, string>(
    ({ latitude, longitude }) => latitude !== 0 || longitude !== 0,
    'must not be 0, 0, which stands for no position',
  );

/** Objects are stored without nulls, so that equal ones are equal as JSON. */
const withoutNulls = <T extends object>(members: T) =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  );

/** The components of the API's documents with these names, in records and in lists. */
export const LocationInput = v.pipe(inputOf(place), isSomewhere(), v.transform(withoutNulls));
export const LocationOutput = outputOf(place);
export const VehicleLocationInput = v.pipe(
  inputOf(vehiclePlace),
  isSomewhere(),
  v.transform(withoutNulls),
);
export const VehicleLocationOutput = outputOf(vehiclePlace);
export const AccidentLevel = outputOf(level);
export const Handled = outputOf(handling);

const objectOf = <I extends v.GenericSchema, O extends v.GenericSchema>(
  members: Fields,
  input: I,
  output: O,
  description: string,
) => {
  const none = each(members, () => null);
  const holds = each(members, (member) => member.holds) as Members; // each of them is a scalar
  return field(holds, input, output, [description, each(members, ({ example }) => example)], {
    read: (stored: string) => ({ ...none, ...JSON.parse(stored) }),
    clean: cleanMembers(members),
  });
};

/** A place in decimal degrees, with the provider's name for it. */
export const location = (description: string) =>
  objectOf(place, LocationInput, LocationOutput, description);

/** A place, with when a vehicle was there and its speed. */
export const vehicleLocation = (description: string) =>
  objectOf(vehiclePlace, VehicleLocationInput, VehicleLocationOutput, description);

/** Who did something about a record in the portal, when, and their note. */
export const handled = (description: string) => objectOf(handling, Handled, Handled, description);

/** Levels of an accident, each with when it was received. */
export const accidentLevels = (description: string) => {
  const Levels = v.array(AccidentLevel);
  const holds = [each(level, (member) => member.holds) as Members] satisfies Field['holds']; // scalars
  const example = [each(level, (member) => member.example)];
  return field(holds, Levels, Levels, [description, example], { read: JSON.parse });
};

export const evidenceKinds = ['video', 'photo', 'document', 'telemetry'] as const;
export const maxEvidence = 20;

/** The members of a file that an accident's record links to. */
export const evidenceFile = {
  kind: choice(evidenceKinds, 'What it is.', 'video'),
  url: httpsUrl(
    4000,
    'Where to get it. The link may expire.',
    'https://media.example.com/crash-3/road.mp4',
  ),
  takenAt: optional(time('When it was taken.')),
  camera: optional(text(100, 'Which camera took it.', 'Road')),
};
export const EvidenceInput = inputOf(evidenceFile);

/** A file that a record links to. */
export type NewEvidence = {
  kind: (typeof evidenceKinds)[number];
  url: string;
  camera?: string | null | undefined;
  takenAt?: number | null | undefined;
};

/** Files that an accident's record links to, for accounts that keep them. Lists show what became of them instead. */
export const evidence = (description: string) => {
  const Files = v.pipe(
    v.array(EvidenceInput),
    v.check((files) => files.length <= maxEvidence, `can have at most ${maxEvidence} files`),
  );
  const holds = [each(evidenceFile, (member) => member.holds) as Members] satisfies Field['holds']; // scalars
  const example = [each(evidenceFile, (member) => member.example)];
  return field(holds, Files, Files, [description, example], {
    most: `At most ${maxEvidence}.`,
    clean: (value) => {
      const files = [value]
        .flat()
        .map((one) => usable(EvidenceInput, cleanMembers(evidenceFile), one));
      const good = files.filter((file) => file !== undefined).slice(0, maxEvidence);
      return good.length > 0 ? good : undefined;
    },
  });
};
