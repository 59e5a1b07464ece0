import * as v from 'valibot';
import { unprintable } from '../../platform/fields.ts';

/** Makes something usable of a value that the field's schema refuses, or undefined. */
export type Mend = (value: unknown) => unknown;

/** The value if the schema accepts it, otherwise what can be used of it, if anything. */
export function usable(schema: v.GenericSchema, mend: Mend | undefined, value: unknown): unknown {
  if (v.is(schema, value)) return value;
  const mended = mend?.(value);
  return mended !== undefined && v.is(schema, mended) ? mended : undefined;
}

const controls = new RegExp(unprintable, 'gu');
const lineBreaks = /[\t-\r\u0085\u2028\u2029]+/g;

/** Text on one line, without control characters; a number as text, unless JSON has lost digits. */
export function cleanText(value: unknown): string | undefined {
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  if (typeof value !== 'string') return undefined;
  return value.replace(lineBreaks, ' ').replace(controls, '').trim();
}

/** Null, or text without anything to see: as good as absent. */
export const isBlank = (value: unknown): boolean => value == null || cleanText(value) === '';

/** Clean text of at most `max` characters, and as JSON of at most `bytes`. */
export const cutText =
  (max: number, bytes = Number.POSITIVE_INFINITY): Mend =>
  (value) => {
    let text = cleanText(value)?.slice(0, max);
    for (let over = 1; text && over > 0; text = text.slice(0, text.length - Math.ceil(over / 3)))
      over = jsonBytes(text) - bytes; // a character has at most three
    return text?.replace(/\p{Cs}$/u, '').trim();
  };

/** How many bytes a value has as JSON, which is how D1 and deliveries have it. */
export const jsonBytes = (value: string | string[]): number =>
  new TextEncoder().encode(JSON.stringify(value)).length;

/** A time of ISO 8601 as RFC 3339 has it: with a T, and a colon and minutes in its offset. */
export const mendTime: Mend = (value) =>
  cleanText(value)
    ?.replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
    .replace(/(:\d\d(?:\.\d+)?[+-]\d\d)(\d\d)?$/, (_, before, minutes = '00') => `${before}:${minutes}`);

export function mendNumber(value: unknown): number | undefined {
  const text = cleanText(value) ?? '';
  return /^[-+]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** One of the words in whatever case, or the value that goes with it. */
export const mendWord =
  (values: { [word: string]: unknown }): Mend =>
  (value) => {
    const text = cleanText(value)?.toLowerCase();
    return Object.entries(values).find((entry) =>
      entry.some((one) => String(one).toLowerCase() === text),
    )?.[1];
  };

/** The first good values of a list, as many as fit. A single value is a list of it. */
export const mendList =
  (each: v.GenericSchema<string>, max: number, bytes: number): Mend =>
  (value) => {
    const kept: string[] = [];
    let size = 1;
    for (const one of [value].flat()) {
      const item = usable(each, cleanText, one);
      if (typeof item !== 'string' || kept.length === max) continue;
      size += jsonBytes(item) + 1; // a comma or the bracket at the end
      if (size <= bytes) kept.push(item);
    }
    return kept;
  };

/** An object without those members that cannot be used. */
export const mendMembers =
  (members: { [name: string]: { input: v.GenericSchema; mend?: Mend } }): Mend =>
  (value) => {
    if (typeof value !== 'object' || !value) return undefined;
    const given = new Map(Object.entries(value));
    const kept = Object.entries(members).map(([name, { input, mend }]) => [
      name,
      usable(input, mend ?? cleanText, given.get(name)),
    ]);
    return Object.fromEntries(kept);
  };
