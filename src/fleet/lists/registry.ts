import { accidents } from './accidents.ts';
import { connections } from './connections.ts';
import { drivers } from './drivers.ts';
import { safetyEvents } from './safety-events.ts';
import { trips } from './trips.ts';
import { vehicles } from './vehicles.ts';

/** All resources. Records are written in this order, so that what others refer to comes before them. */
export const resources = [connections, drivers, vehicles, trips, safetyEvents, accidents] as const;

type Resource = (typeof resources)[number];
type OfRecords = Extract<Resource, { record: unknown }>;
type Listed = Extract<Resource, { list: unknown }>;

/** The resources that connectors send in. */
export const recordKinds = resources.filter((resource): resource is OfRecords => 'record' in resource);

/** The resources that clients list. */
export const lists = resources.filter((resource): resource is Listed => 'list' in resource);

/** How the lists are archived that are. */
export const archiveKinds = lists.flatMap(({ list }) => list.archive ?? []);

/** The kinds of records. */
export type Kind = OfRecords['kind'];
/** What is declared of a kind of record. */
export type RecordKindOf<K extends Kind> = Extract<OfRecords, { kind: K }>;
/** The kinds of what clients list. */
export type ListedKind = Listed['kind'];
