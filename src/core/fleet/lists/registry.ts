import { accidents } from './accidents.ts';
import { connections } from './connections.ts';
import { drivers } from './drivers.ts';
import { withoutInvisible } from './nothing.ts';
import { safetyEvents } from './safety-events.ts';
import { trips } from './trips.ts';
import { vehicles } from './vehicles.ts';

/** All resources, in the order in which records are written: those referred to come first. */
export const resources = [connections, drivers, vehicles, trips, safetyEvents, accidents] as const;

type Resource = (typeof resources)[number];
type OfRecords = Extract<Resource, { record: unknown }>;
type Listed = Extract<Resource, { list: unknown }>;

export const recordKinds = resources.filter(
  (resource): resource is OfRecords => 'record' in resource,
);

export const lists = resources.filter((resource): resource is Listed => 'list' in resource);

export const archiveKinds = lists.flatMap(({ list }) => list.archive ?? []);

export type Kind = OfRecords['kind'];
export type RecordKindOf<K extends Kind> = Extract<OfRecords, { kind: K }>;
const kindsByLetters = new Map<string, Kind>(
  recordKinds.map(({ kind }) => [kind.toLowerCase(), kind]),
);

/** The kind that a record names in whatever spelling, such as `Safety_Event`; or what it has instead. */
export const kindNamed = (name: unknown): unknown =>
  typeof name === 'string'
    ? (kindsByLetters.get(
        withoutInvisible(name)
          .toLowerCase()
          .replace(/[\s_-]/g, ''),
      ) ?? name)
    : name;

export type ListedKind = Listed['kind'];
