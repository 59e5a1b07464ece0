import * as v from 'valibot';
import { unprintable } from '../../platform/fields.ts';
import { rfc3339In } from '../../platform/times.ts';
import { withoutInvisible } from './nothing.ts';

/** Makes something usable of a value that the field's schema refuses, or undefined. */
export type Clean = (value: unknown) => unknown;

/** The value if the schema accepts it, otherwise what can be used of it, if anything. */
export function usable(schema: v.GenericSchema, clean: Clean | undefined, value: unknown): unknown {
  if (v.is(schema, value)) return value;
  const cleaned = clean?.(value);
  return cleaned !== undefined && v.is(schema, cleaned) ? cleaned : undefined;
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
export const isBlank = (value: unknown): boolean =>
  value == null || withoutInvisible(cleanText(value) ?? 'something') === '';

/** Clean text of at most `max` characters, and as JSON of at most `bytes`. */
export const cutText =
  (max: number, bytes = Number.POSITIVE_INFINITY): Clean =>
  (value) => {
    let text = cleanText(value)?.slice(0, max);
    for (let over = 1; text && over > 0; text = text.slice(0, text.length - Math.ceil(over / 3)))
      over = jsonBytes(text) - bytes; // a character has at most three
    return text?.replace(/\p{Cs}$/u, '').trim();
  };

/** How many bytes a value has as JSON, which is how D1 and deliveries have it. */
export const jsonBytes = (value: string | string[]): number =>
  new TextEncoder().encode(JSON.stringify(value)).length;

/** A time in any form that can be read in one way only, also as a number, as RFC 3339. */
export const cleanTime: Clean = (value) =>
  rfc3339In(typeof value === 'number' ? String(value) : withoutInvisible(cleanText(value) ?? ''));

/** A number as text, unless it can be several between the bounds. */
export const cleanNumber =
  (min: number, max: number): Clean =>
  (value) => {
    const possible = numbersIn(cleanText(value) ?? '').filter(
      (number) => number >= min && number <= max,
    );
    return possible.length === 1 ? possible[0] : undefined;
  };

/** The numbers that a text can be: its comma is one of decimals, or unless `isDecimal` of thousands. */
export function numbersIn(text: string, isDecimal = false): number[] {
  const number = (digits: string) =>
    /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(digits) ? [Number(digits)] : [];
  const isOfThousands = !isDecimal && /^[-+]?[1-9]\d{0,2},\d{3}$/.test(text);
  return [
    ...number(text.replace(/^([-+]?\d*),(\d+)$/, '$1.$2')),
    ...(isOfThousands ? number(text.replace(',', '')) : []),
  ];
}

/** One of the words in whatever case, or the value that goes with it. */
export const cleanWord =
  (values: { [word: string]: unknown }): Clean =>
  (value) => {
    const text = cleanText(value)?.toLowerCase();
    return Object.entries(values).find((entry) =>
      entry.some((one) => String(one).toLowerCase() === text),
    )?.[1];
  };

/** A truth in any of the words that programs and people write. */
export const cleanBoolean = cleanWord({
  true: true,
  1: true,
  yes: true,
  false: false,
  0: false,
  no: false,
});

/** The first good values of a list, as many as fit. A single value is a list of it. */
export const cleanList =
  (each: v.GenericSchema<string>, max: number, bytes: number): Clean =>
  (value) => {
    const items = [value].flat();
    const kept: string[] = [];
    let size = 1;
    for (const one of items) {
      const item = usable(each, cleanText, one);
      if (typeof item !== 'string' || kept.length === max) continue;
      size += jsonBytes(item) + 1; // a comma or the bracket at the end
      if (size <= bytes) kept.push(item);
    }
    return kept.length > 0 || items.every(isBlank) ? kept : undefined;
  };

/** An object without those members that cannot be used. */
export const cleanMembers =
  (members: { [name: string]: { input: v.GenericSchema; clean?: Clean } }): Clean =>
  (value) => {
    if (typeof value !== 'object' || !value) return undefined;
    const received = new Map(Object.entries(value));
    const kept = Object.entries(members).map(([name, { input, clean }]) => [
      name,
      usable(input, clean ?? cleanText, received.get(name)),
    ]);
    return Object.fromEntries(kept);
  };
