import { incidentTypeOf } from '../../fleet/incidents/types.ts';
import type { Matched } from '../../fleet/match.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { FieldError } from '../../platform/errors.ts';
import { addDays, isDay, startOfDay } from '../ui/days.ts';
import { dayIn } from '../ui/time.tsx';

/**
 * The filters of the page of safety events, as its address has them. `from` and `to` are days in the reader's time zone,
 * both included; `risk` is the least risk; `type` a normalised incident type; `vehicle` a name, licence plate, VIN or
 * id; `driver` a name or id.
 */
export type EventFilters = { [name in (typeof names)[number]]: string };

const names = ['from', 'to', 'risk', 'type', 'connection', 'vehicle', 'driver', 'vin'] as const;

/** The days that are shown unless others are asked for, today included. */
export const usualDays = 7;

/** What somebody asks for, with the usual days unless they say others. `set` names the filters that they set. */
export type Asked = { filters: EventFilters; set: (keyof EventFilters)[] };

/** Reads the filters from the query of an address. What is no risk or type at all is left out. */
export function askedIn(query: Record<string, string>, zone: string, now = Date.now()): Asked {
  const typed = (name: keyof EventFilters) => (query[name] ?? '').trim().slice(0, longestText);
  const today = dayIn(zone, now);
  const to = typed('to') || today;
  const given = {
    ...(Object.fromEntries(names.map((name) => [name, typed(name)])) as EventFilters), // each by its name
    risk: /^[2-5]$/.test(typed('risk')) ? typed('risk') : '',
    type: incidentTypeOf(typed('type')) ?? '',
  };
  const from = given.from || (isDay(to) ? addDays(to, 1 - usualDays) : today);
  // With script the form always says its days.
  const usual = to === today && from === addDays(today, 1 - usualDays);
  const set = names.filter((name) => given[name] !== '' && !(usual && (name === 'from' || name === 'to')));
  return { filters: { ...given, from, to }, set };
}

/** Names of vehicles and drivers are no longer. */
const longestText = 200;

/** What is wrong with the filters, by field. */
export function problemsOf({ from, to, connection }: EventFilters, connectionIds: string[]): FieldError[] {
  const day = 'Must be a date, such as 2026-11-20.';
  return [
    ...(isDay(from) ? [] : [{ field: 'from', message: day }]),
    ...(isDay(to) ? [] : [{ field: 'to', message: day }]),
    ...(isDay(from) && isDay(to) && from > to
      ? [{ field: 'to', message: 'Must not be before the first day.' }]
      : []),
    ...(connection && !connectionIds.includes(connection)
      ? [{ field: 'connection', message: 'Choose one of your connections.' }]
      : []),
  ];
}

/**
 * What to ask the list for; nothing, if no vehicle or no driver matches. The filters have no problems. An account's only
 * connection is named: its events need not be merged with others.
 */
export function requestFor(
  { from, to, risk, type, connection }: EventFilters,
  connectionIds: string[],
  { vehicles, drivers }: Matched,
  zone: string,
): ListRequest | undefined {
  if (vehicles?.length === 0 || drivers?.length === 0) return undefined;
  const iso = (at: number) => [new Date(at).toISOString()];
  return {
    connectionId: connection || (connectionIds.length === 1 ? connectionIds[0] : undefined),
    descending: true,
    query: {
      from: iso(startOfDay(zone, from)),
      to: iso(startOfDay(zone, addDays(to, 1))),
      ...(risk && { minEventRisk: [risk] }),
      ...(type && { eventTypes: [type] }),
      ...(vehicles && { vehicleIds: vehicles.map(({ id }) => id) }),
      ...(drivers && { driverIds: drivers.map(({ id }) => id) }),
    },
  };
}

/** The query of an address with the filters that are set, but for some. */
export function queryWith({ filters, set }: Asked, without: (keyof EventFilters)[] = []): string {
  const kept = set.filter((name) => !without.includes(name));
  return new URLSearchParams(kept.map((name) => [name, filters[name]])).toString();
}

/** The same with the days that are shown now, so that a page that follows continues this one, also tomorrow. */
export const queryOfDays = ({ filters, set }: Asked): string =>
  queryWith({ filters, set: ['from', 'to', ...set.filter((name) => name !== 'from' && name !== 'to')] });
