import * as v from 'valibot';
import { cleanTime, cutText } from '../../../core/fleet/lists/clean.ts';
import { LocationInput } from '../../../core/fleet/lists/field-objects.ts';
import { maxVinBytes } from '../../../core/fleet/lists/field-types.ts';
import { vehicles } from '../../../core/fleet/lists/vehicles.ts';
import { vinOf } from '../../../core/fleet/lists/vin.ts';
import { dumpedBytes } from '../../../core/platform/db/dump.ts';
import { isPrintable, maxName } from '../../../core/platform/fields.ts';
import { type Json, ProviderError } from './connector.ts';

/** The value at a path, or undefined. Providers leave fields out, or send `null` or `""`: all null to us. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as { [key: string | number]: unknown })[key]; // an object that has it
  }
  return found;
}

/** A value in untidy JSON for a field of a record: null instead of undefined and blank text. */
export function field(value: unknown, ...path: (string | number)[]): unknown {
  const found = at(value, ...path);
  return found === undefined || (typeof found === 'string' && found.trim() === '') ? null : found;
}

/** The values of fields that a record has under the same names. */
export const sameFields = (value: unknown, ...names: string[]): { [name: string]: unknown } =>
  Object.fromEntries(names.map((name) => [name, field(value, name)]));

/** Several texts joined to one. If none is text, the first value is passed on, for the warning. */
export function joinedFields(value: unknown, ...names: string[]): unknown {
  const found = names.map((name) => field(value, name)).filter((one) => one !== null);
  const texts = found.filter((one) => typeof one === 'string');
  return texts.length > 0 ? texts.map((text) => text.trim()).join(' ') : (found[0] ?? null);
}

/** A number, which some providers send as text. */
export function numeric(value: unknown, ...path: (string | number)[]): unknown {
  const found = field(value, ...path);
  return typeof found === 'string' && Number.isFinite(Number(found)) ? Number(found) : found;
}

/** An id: numbers become text, and `"0"` is null. */
export function idAt(value: unknown, ...path: (string | number)[]): unknown {
  const found = field(value, ...path);
  const id = typeof found === 'number' ? String(found) : found;
  return id === '0' ? null : id;
}

/** A list in a response, or an empty one. */
export function itemsAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A list in a response. @throws Problem, if it is not a list */
export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new ProviderError('unexpected', 'returns no list');
  return found;
}

/** The names of a vehicle's groups, as many of the first ones as a record may have. */
export const fittingGroups = (names: unknown[]): unknown =>
  vehicles.fields.groups.clean?.([...new Set(names)]);

/** As many items, skipping larger ones, as take so many bytes in a dump. */
export function fitting<T>(items: T[], bytes: number): T[] {
  let remaining = bytes;
  return items.filter((item) => {
    const taken = dumpedBytes(JSON.stringify(item)) + 1;
    if (taken > remaining) return false;
    remaining -= taken;
    return true;
  });
}

/** A provider's address may be long: the rest is cut. */
const maxAddress = 200;

/** A location with the provider's address; null if a coordinate is missing, or both are 0. */
export function place(latitude: unknown, longitude: unknown, address?: unknown): unknown {
  if (latitude === null || longitude === null || latitude === undefined || longitude === undefined)
    return null;
  if (latitude === 0 && longitude === 0) return null;
  const name =
    typeof address === 'string' && isPrintable(address) ? address.trim().slice(0, maxAddress) : '';
  return { latitude, longitude, ...(name !== '' && { address: name }) };
}

/** The location under a name. */
export const placeIn = (item: unknown, name: string, address?: unknown): unknown =>
  place(at(item, name, 'latitude'), at(item, name, 'longitude'), address);

/** The first of these that can be a location, otherwise the first. */
export const usablePlace = (first: unknown, ...others: unknown[]): unknown =>
  [first, ...others].find((place) => v.is(LocationInput, place)) ?? first;

/** The first of these that can be a VIN, otherwise the first there is. */
export const usableVin = (...vins: unknown[]): unknown =>
  vins.find(
    (vin) => typeof vin === 'string' && vin.trim().length <= maxVinBytes && vinOf(vin) !== '',
  ) ??
  vins.find((vin) => vin !== null) ??
  null;

/** RFC 3339 for milliseconds since 1970. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** A duration in whole seconds; null if one of its times is missing. */
export function secondsBetween(start: unknown, end: unknown): number | null {
  const seconds = Math.round((msOf(end) - msOf(start)) / 1000);
  return Number.isFinite(seconds) ? seconds : null;
}

/** A year, also as text; null for what is none, such as `"0"`. */
export const yearIn = (year: unknown): number | null =>
  /^\d{4}$/.test(String(year)) ? Number(year) : null;

/** Milliseconds since 1970 of a time as records may have it, or NaN. */
export const msOf = (time: unknown): number => Date.parse(String(cleanTime(time)));

const mostNamePages = 5;

/** Looks things up by id in a list, page by page, until all are found. Returns their names; none if it may not be read. */
export async function namesOf(
  ids: unknown[],
  page: (position: Json) => Promise<{ items: unknown[]; next: Json | undefined }>,
  nameOf: (item: unknown) => unknown,
): Promise<Map<unknown, unknown>> {
  const wanted = new Set(ids);
  const names = new Map<unknown, unknown>();
  let position: Json | undefined = null;
  for (
    let pages = 0;
    position !== undefined && names.size < wanted.size && pages < mostNamePages;
    pages++
  ) {
    const { items, next }: Awaited<ReturnType<typeof page>> =
      await page(position).catch(ifForbidden);
    for (const item of items)
      if (wanted.has(at(item, 'id'))) names.set(at(item, 'id'), nameOf(item));
    position = next;
  }
  return names;
}

function ifForbidden(error: unknown) {
  if (error instanceof ProviderError && error.kind === 'not permitted')
    return { items: [], next: undefined };
  throw error;
}

/** An id, which some providers send as a number; undefined if it is missing. */
export const idFrom = (id: unknown): string | undefined =>
  (typeof id === 'string' && id !== '') || typeof id === 'number'
    ? String(id).slice(0, maxName)
    : undefined;

/** A provider's name as one line of at most 200 characters, if it is text; '' otherwise. */
export const nameFrom = (given: unknown): string =>
  typeof given === 'string' ? String(cutText(maxName)(given)) : '';
