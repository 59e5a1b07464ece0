import { type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { incidentTypes } from '../fleet/incidents/types.ts';
import { groupLimits } from '../fleet/lists/vehicles.ts';
import type { FieldError } from '../platform/errors.ts';
import { AtMost, isPrintable, mustBePrintable } from '../platform/fields.ts';
import { ACCIDENT, accidentLevels, EVENT, type NotificationType } from './notifications/types.ts';

/** What customers have to choose from, and at least one of it. */
const NonEmpty = <S extends v.GenericSchema>(item: S, most: number) =>
  v.pipe(
    v.array(item),
    v.minLength(1, 'must have at least one value'),
    v.maxLength(most, `can be at most ${most}`),
  );

const Risk = v.pipe(
  v.picklist([1, 2, 3, 4, 5], 'must be a whole number from 1 to 5'),
  v.metadata({ type: 'integer' }),
);
const Type = v.picklist(incidentTypes, 'must be a normalised incident type');
const Level = v.pipe(v.picklist(accidentLevels, 'must be 1, 2 or 3'), v.metadata({ type: 'integer' }));
const Group = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  AtMost(groupLimits.length),
  v.check(isPrintable, mustBePrintable),
);

/** What a webhook is notified of, of what it subscribes to: what passes all of these. */
export const Filters = v.strictObject(
  {
    minEventRisk: v.optional(Risk),
    incidentTypes: v.optional(NonEmpty(Type, incidentTypes.length)),
    vehicleGroups: v.optional(NonEmpty(Group, 50)),
    accidentLevels: v.optional(NonEmpty(Level, accidentLevels.length)),
  },
  ({ expected }) => (expected === 'never' ? 'is not a filter' : 'must be an object'),
);
export type Filters = v.InferOutput<typeof Filters>;

/** The same as clients send it: valibot takes a list for an object, and an empty one would be no filters. */
export const FiltersInput = v.lazy((input) => (Array.isArray(input) ? NoList : Filters));
const NoList = v.custom<Filters>(() => false, 'must be an object');

/** The type of notification that a filter is about; vehicles have both. */
const typeOf: [name: keyof Filters, type: NotificationType, must: string][] = [
  ['minEventRisk', EVENT, 'needs 2 (event) among the notificationTypes'],
  ['incidentTypes', EVENT, 'needs 2 (event) among the notificationTypes'],
  ['accidentLevels', ACCIDENT, 'needs 1 (accident) among the notificationTypes'],
];

/** What is wrong with a filter that can never match, because the webhook is not notified of what it is about. */
export function unmatchable(webhook: {
  filters?: Filters | null | undefined;
  notificationTypes: NotificationType[];
}): FieldError | undefined {
  const found = withoutType(webhook.notificationTypes).find(
    ([name]) => webhook.filters?.[name] !== undefined,
  );
  return found && { field: `filters.${found[0]}`, message: found[2] };
}

/** SQL for whether the filters that the database keeps, if any, can match with these types. */
export const canMatch = (filters: SQL, notificationTypes: NotificationType[]): SQL =>
  sql.join(
    [sql`true`, ...withoutType(notificationTypes).map(([name]) => sql`${filters}->${name} is null`)],
    sql` and `,
  );

const withoutType = (notificationTypes: NotificationType[]) =>
  typeOf.filter(([, type]) => !notificationTypes.includes(type));

/** Filters as the database keeps them; null for none. */
export const stored = (filters: Filters | null | undefined): string | null =>
  filters && Object.keys(filters).length > 0 ? JSON.stringify(filters) : null;

/** What the filters that the database keeps add to a webhook. */
export const filtersOf = (filters: string | null): { filters?: Filters } =>
  filters === null ? {} : { filters: JSON.parse(filters) };
