import * as v from 'valibot';
import { parse, Timestamp, timestamp } from '../../platform/fields.ts';
import type { ReplaySelection } from '../../webhooks/deliveries/replayable.ts';
import { isLocalTime, momentOf } from '../ui/local-time.ts';

/** What the page of a replay carries from step to step, in its address and its forms. */
const names = ['since', 'until', 'which', 'after', 'sent'] as const;
export type ReplayFields = Record<(typeof names)[number], string>;

/**
 * Collects the fields of a form or an address; one that is missing is empty. Times that people have typed are in their
 * `zone`; from here on they are in UTC.
 */
export function replayFields(value: (name: string) => string | undefined, zone: string): ReplayFields {
  const given = Object.fromEntries(names.map((name) => [name, value(name) ?? ''])) as ReplayFields; // of the names
  return { ...given, since: inUtc(given.since, zone), until: inUtc(given.until, zone) };
}

/** A time that does not exist stays as it is, to be refused. */
const inUtc = (text: string, zone: string): string =>
  isLocalTime(text) && v.is(Timestamp, withZone(text)) ? timestamp(momentOf(zone, text)) : text;

/** The address of a page's next step. */
export const stepOf = (path: string, fields: ReplayFields): string =>
  `${path}?${new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''))}`;

/** In UTC, or a time that does not exist as somebody has typed it. */
const FormTime = v.optional(v.pipe(v.string(), v.transform(withZone), Timestamp));

const Selection = v.object({
  since: FormTime,
  until: FormTime,
  which: v.optional(v.picklist(['missed', 'all'])),
  after: v.optional(v.pipe(v.string(), v.uuid(), v.toLowerCase())),
});

/** What the fields select. @throws Refusal: invalid, for a time that does not exist */
export function selectionOf(fields: ReplayFields): ReplaySelection {
  const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
  const { which, ...selection } = parse(Selection, filled);
  return { ...selection, includeDelivered: which === 'all' };
}

/** How many have been replayed in the steps before. */
export const sentBefore = ({ sent }: ReplayFields): number => (/^\d{1,12}$/.test(sent) ? Number(sent) : 0);

function withZone(text: string): string {
  if (/T\d\d:\d\d$/.test(text)) return `${text}:00Z`;
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text;
}
