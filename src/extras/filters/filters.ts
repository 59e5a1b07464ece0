import * as v from 'valibot';
import { incidentTypes } from '../../core/fleet/incidents/types.ts';
import { groupKey } from '../../core/fleet/lists/group-keys.ts';
import { Group } from '../../core/fleet/lists/vehicles.ts';
import type { FieldError } from '../../core/platform/errors.ts';
import { OneOf } from '../../core/platform/fields.ts';
import type { Filterable } from '../../core/webhooks/filterable.ts';
import {
  ACCIDENT,
  accidentLevels,
  EVENT,
  EVENT_LEVEL,
  Level,
  type NotificationType,
} from '../../core/webhooks/notifications/types.ts';

/** A list of values to choose from, at least one. */
const NonEmpty = <S extends v.GenericSchema>(item: S, most: number) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(most, `can have at most ${most} values`));

const Risk = OneOf([1, 2, 3, 4, 5], 'must be a whole number from 1 to 5');
const Type = v.picklist(incidentTypes, 'must be a normalised incident type');

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
export function unmatchable(
  filters: Filters | null | undefined,
  notificationTypes: readonly number[],
): FieldError | undefined {
  const found = typeOf.find(
    ([name, type]) => filters?.[name] !== undefined && !notificationTypes.includes(type),
  );
  return found && { field: `filters.${found[0]}`, message: found[2] };
}

/** Filters as they are stored, with the groups as they are compared. */
export type StoredFilters = Filters & { groupKeys?: string[] };

/** Filters to store; null for none. */
export const stored = (filters: Filters | null): StoredFilters | null =>
  filters && Object.keys(filters).length > 0
    ? {
        ...filters,
        ...(filters.vehicleGroups && { groupKeys: filters.vehicleGroups.map(groupKey) }),
      }
    : null;

/** Whether filters, or none, let a notification through. `isLetThrough` is the same for fan-outs. */
export function letsThrough(
  filters: StoredFilters | null | undefined,
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
