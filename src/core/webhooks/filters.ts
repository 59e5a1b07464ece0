import { type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { incidentTypes } from '../fleet/incidents/types.ts';
import { groupKey } from '../fleet/lists/group-keys.ts';
import { groupLimits } from '../fleet/lists/vehicles.ts';
import type { FieldError } from '../platform/errors.ts';
import { AtMost, isPrintable, mustBePrintable, OneOf } from '../platform/fields.ts';
import {
  ACCIDENT,
  accidentLevels,
  EVENT,
  EVENT_LEVEL,
  type NotificationType,
  notificationTypes,
} from './notifications/types.ts';

/** A list of values to choose from, at least one. */
const NonEmpty = <S extends v.GenericSchema>(item: S, most: number) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(most, `can have at most ${most} values`));

const Risk = OneOf([1, 2, 3, 4, 5], 'must be a whole number from 1 to 5');
const Type = v.picklist(incidentTypes, 'must be a normalised incident type');
export const Level = OneOf(accidentLevels, 'must be 1, 2 or 3');
/** A type of notifications. */
export const NotificationCode = OneOf(notificationTypes, 'must be 1 (accident) or 2 (event)');
/** A group of vehicles, as people choose it. */
export const Group = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  AtMost(groupLimits.length),
  v.check(isPrintable, mustBePrintable),
);

/** The filters of a webhook: a notification must pass all of them. */
export const Filters = v.strictObject({
  minEventRisk: v.optional(Risk),
  incidentTypes: v.optional(NonEmpty(Type, incidentTypes.length)),
  vehicleGroups: v.optional(NonEmpty(Group, 50)),
  accidentLevels: v.optional(NonEmpty(Level, accidentLevels.length)),
});
export type Filters = v.InferOutput<typeof Filters>;

/** Filters in a response, which may get further properties. */
export const FiltersOutput = v.object(Filters.entries);

/** The type of notification that a filter applies to; vehicles apply to both. */
const typeOf: [name: keyof Filters, type: NotificationType, must: string][] = [
  ['minEventRisk', EVENT, 'needs 2 (event) among the notificationTypes'],
  ['incidentTypes', EVENT, 'needs 2 (event) among the notificationTypes'],
  ['accidentLevels', ACCIDENT, 'needs 1 (accident) among the notificationTypes'],
];

/** The error of a filter that can never match, because the webhook does not get that type. */
export function unmatchable(webhook: {
  filters?: Filters | null | undefined;
  notificationTypes: NotificationType[];
}): FieldError | undefined {
  const found = withoutType(webhook.notificationTypes).find(
    ([name]) => webhook.filters?.[name] !== undefined,
  );
  return found && { field: `filters.${found[0]}`, message: found[2] };
}

/** SQL for whether stored filters, if any, can match with these types. */
export const canMatch = (filters: SQL, notificationTypes: NotificationType[]): SQL =>
  sql.join(
    [
      sql`true`,
      ...withoutType(notificationTypes).map(([name]) => sql`${filters}->${name} is null`),
    ],
    sql` and `,
  );

const withoutType = (notificationTypes: NotificationType[]) =>
  typeOf.filter(([, type]) => !notificationTypes.includes(type));

/** Filters as stored, with the groups as they are compared; null for none. */
export const stored = (filters: Filters | null | undefined): string | null =>
  filters && Object.keys(filters).length > 0
    ? JSON.stringify({ ...filters, groupKeys: filters.vehicleGroups?.map(groupKey) })
    : null;

/** The `filters` property of a webhook with these stored filters. */
export function filtersOf(stored: string | null): { filters?: Filters } {
  if (stored === null) return {};
  const { groupKeys: _, ...filters } = JSON.parse(stored);
  return { filters };
}

/** Filters as they are stored, with the groups as they are compared. */
export type StoredFilters = Filters & { groupKeys?: string[] | undefined };

/** The filters of a webhook that are stored, null for none. */
export const readFilters = (stored: string | null): StoredFilters | null =>
  JSON.parse(stored ?? 'null'); // as `stored` wrote it

/**
 * What filters ask of a notification: an event has a risk and types, an accident has a level above 0. What it does not
 * have matches every filter.
 */
export type Filterable = {
  level: number;
  eventRisk?: number | undefined;
  translatedIncidentTypes?: readonly string[] | undefined;
  /** The keys of its vehicle's groups; undefined if the vehicle is unknown. */
  groupKeys?: readonly string[] | undefined;
};

/** Whether filters, or none, let a notification through. `isLetThrough` is the same for fan-outs. */
export function letsThrough(
  filters: StoredFilters | null,
  { level, eventRisk = Infinity, translatedIncidentTypes, groupKeys }: Filterable,
): boolean {
  if (!filters) return true;
  return (
    eventRisk >= (filters.minEventRisk ?? 0) &&
    overlap(filters.incidentTypes, translatedIncidentTypes) &&
    overlap(filters.accidentLevels, level === EVENT_LEVEL ? undefined : [level]) &&
    overlap(filters.groupKeys, groupKeys)
  );
}

/** Whether two lists overlap. An unknown value and a missing filter match everything. */
const overlap = (
  wanted: readonly unknown[] | undefined,
  has: readonly unknown[] | undefined,
): boolean => !wanted || !has || has.some((one) => wanted.includes(one));
