import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { StoredOptions } from '../../platform/db/schema/webhooks.ts';
import type { Filterable } from '../filterable.ts';
import { options } from '../options.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';

/** SQL for whether two lists overlap. What is unknown or missing overlaps with everything. */
export const overlap = (
  wanted: SQL,
  has: SQL,
): SQL => sql`(${wanted} is null or ${has} is null or exists (
  select 1 from json_each(${has}) h join json_each(${wanted}) o on o.value = h.value))`;

/** The values of a payload that options look at. */
export const filterable = (data: EventNotification | AccidentNotification) =>
  'eventRisk' in data
    ? { eventRisk: data.eventRisk, translatedIncidentTypes: data.translatedIncidentTypes }
    : {};

const filters = () => options().flatMap(({ name, filter }) => (filter ? { name, ...filter } : []));

/** Whether a webhook's options let a notification through. */
export const letsThrough = (stored: StoredOptions, notification: Filterable): boolean =>
  filters().every((one) => one.letsThrough(stored, notification));

/**
 * SQL for whether the webhook `w` lets the notification `n` through: `letsThrough`, for the thousands of webhooks and
 * notifications of a fan-out. It reads nothing for a webhook without such options, otherwise at least its row.
 */
export const isLetThrough = (): SQL =>
  sql`iif(w.filtered, ${sql.join([sql`1`, ...filters().map((one) => one.isLetThrough)], sql` and `)}, 1)`;

/** SQL for whether a webhook has options that may hold something back. */
export const isFiltered = (stored: SQLWrapper): SQL =>
  sql`(${sql.join([sql`0`, ...filters().map(({ name }) => sql`${stored}->>${name} is not null`)], sql` or `)})`;
