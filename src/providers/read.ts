import { isPrintable, maxName } from '../platform/fields.ts';
import type { Json } from './connector.ts';
import { Problem } from './problem.ts';

/** What a text holds as JSON; undefined if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a credential that is one word, which is its identity too: `what` people call it, and who shows it. */
export const asOneWord = (what: string, provider: string) => (text: string) => {
  const word = wordOf(text, `The ${what} must be one word of 8 to 500 characters, as ${provider} shows it.`);
  return { credential: word, identity: word };
};

/** A secret of one word, without the spaces around it. @throws Problem: invalid, as `otherwise` says */
export function wordOf(given: unknown, otherwise: string): string {
  const word = typeof given === 'string' ? given.trim() : '';
  if (!/^[\x21-\x7e]{8,500}$/.test(word)) throw new Problem('invalid', otherwise);
  return word;
}

/**
 * What a provider's reply holds at a path, undefined if it is not there, whatever else may be. Providers leave fields
 * out, or give `null` or `""` for them: these are all null to `/ingest`.
 */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as { [key: string | number]: unknown })[key]; // an object that has it
  }
  return found;
}

/** The same for a field of a record: null instead of undefined and `""`. */
export function field(value: unknown, ...path: (string | number)[]): unknown {
  const found = at(value, ...path);
  return found === undefined || found === '' ? null : found;
}

/** The same for a number, which some write as text. */
export function numeric(value: unknown, ...path: (string | number)[]): unknown {
  const found = field(value, ...path);
  return typeof found === 'string' && found.trim() !== '' && Number.isFinite(Number(found))
    ? Number(found)
    : found;
}

/** The same for an id: numbers become text, and `"0"` is nobody's. */
export function idAt(value: unknown, ...path: (string | number)[]): unknown {
  const found = field(value, ...path);
  const id = typeof found === 'number' ? String(found) : found;
  return id === '0' ? null : id;
}

/** A list in a reply; an empty one if there is none. */
export function itemsAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A list of the reply. @throws Problem when it is none: then it is not the reply that we know */
export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new Problem('unexpected', `returns no list of ${path.at(-1)}`);
  return found;
}

/** What a provider calls a place may be long: the rest is left out. */
const maxAddress = 200;

/**
 * A place from its latitude and longitude, with what the provider calls it; null if either is missing, or both are 0,
 * which is nowhere.
 */
export function place(latitude: unknown, longitude: unknown, address?: unknown): unknown {
  if (latitude === null || longitude === null || latitude === undefined || longitude === undefined)
    return null;
  if (latitude === 0 && longitude === 0) return null;
  const name = typeof address === 'string' && isPrintable(address) ? address.trim().slice(0, maxAddress) : '';
  return { latitude, longitude, ...(name !== '' && { address: name }) };
}

/** RFC 3339 for a time in milliseconds since 1970; null if there is none. */
export const timeOf = (ms: unknown): string | null =>
  typeof ms === 'number' && Number.isSafeInteger(ms) && Math.abs(ms) < 8.64e15
    ? new Date(ms).toISOString()
    : null;

/** RFC 3339 for a time that there is. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** How long something took, in whole seconds; null if one of its times is missing. */
export function secondsBetween(start: unknown, end: unknown): number | null {
  const seconds = Math.round((msOf(end) - msOf(start)) / 1000);
  return Number.isFinite(seconds) ? seconds : null;
}

/** A year as text, as a number; null for anything else. */
export const yearIn = (year: unknown): number | null =>
  typeof year === 'string' && /^\d{4}$/.test(year) ? Number(year) : null;

/** Milliseconds since 1970 of a time as text; NaN if it is none. */
export const msOf = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : Number.NaN);

/** More pages of a list than these are not looked through for names. */
const mostNamePages = 5;

/** Looks things up by their ids in a list, page by page, until all are found. Returns the name of each. */
export async function namesOf(
  ids: unknown[],
  page: (place: Json) => Promise<{ items: unknown[]; next: Json | undefined }>,
  nameOf: (item: unknown) => unknown,
): Promise<Map<unknown, unknown>> {
  const wanted = new Set(ids);
  const names = new Map<unknown, unknown>();
  let place: Json | undefined = null;
  for (let pages = 0; place !== undefined && names.size < wanted.size && pages < mostNamePages; pages++) {
    const { items, next }: { items: unknown[]; next: Json | undefined } = await page(place);
    for (const item of items) if (wanted.has(at(item, 'id'))) names.set(at(item, 'id'), nameOf(item));
    place = next;
  }
  return names;
}

/** An id, which some write as a number; undefined if it is none. */
export const idFrom = (id: unknown): string | undefined =>
  (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id).slice(0, maxName) : undefined;
