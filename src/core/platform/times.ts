import { dayMs } from './durations.ts';

/*
 * Times as languages, databases and spreadsheets write them, besides RFC 3339. Only what can be read
 * in one way is: a time names its zone, and 05/11/2026 is not read at all.
 */

const monthNames =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

const weekday = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]*\s/i;

/** `Nov 29 08:12:00 UTC 2026`, of which the year can also be before the zone. */
const yearAtEnd = /^([a-z]+ \d\d?) (\d\d?:[\d:.,]+)(.*?) (\d{4})\b(.*)$/i;

const dates = [
  String.raw`(?<year>\d{4})(?<dash>[-/.])(?<month>\d\d?)\k<dash>(?<day>\d\d?)`,
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)`,
  String.raw`(?<day>\d\d?)[-/ ](?<month>[a-z]{3,9})[-/ ](?<year>\d{4}|\d\d)`,
  String.raw`(?<month>[a-z]{3,9}) (?<day>\d\d?),? (?<year>\d{4})`,
  String.raw`(?<one>\d\d?)(?<dash>[-/.])(?<other>\d\d?)\k<dash>(?<year>\d{4})`,
];

const clock = String.raw`(?:(?<hour>\d\d?)(?<colon>[:.])|(?<hours>\d\d))(?<minute>\d\d)(?:\k<colon>(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;

const forms = dates.map(
  (date) =>
    new RegExp(`^${date}(?:T|,? at |[, _:]+)${clock} ?(?<half>[ap]\\.?m\\b\\.?)?(?<zone>.+)$`, 'i'),
);

/** No form of a time is longer. */
const longest = 100;

/** A time in any form that can be read in one way only, as RFC 3339; it may not exist. */
export function rfc3339In(text: string): string | undefined {
  if (text.length > longest) return undefined;
  const plain = text
    .replace(/\s+/g, ' ')
    .replace(/^ ?["']?|["']? ?$/g, '')
    .replace(/\u2212/g, '-');
  const elapsed = epochIn(plain);
  if (elapsed !== undefined) return new Date(elapsed).toISOString();
  const ordered = plain.replace(weekday, '').replace(yearAtEnd, '$1 $4 $2$3$5');
  const parts = forms
    .map((form) => form.exec(ordered)?.groups)
    .find((groups) => groups !== undefined);
  const day = parts && dayIn(parts);
  const hour = parts && hourIn(parts);
  if (!day || hour === undefined) return undefined;
  const { minute = '', second = '00', fraction } = parts;
  const local = `${day}T${two(hour)}:${minute}:${second}`;
  const zone = offsetIn((parts.zone ?? '').trim(), local);
  return zone && local + (fraction ? `.${fraction}` : '') + zone;
}

/** Digits that are a date and an hour in another reading. */
const dateAndHour = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])/;

/** Milliseconds of a number of seconds, milliseconds, microseconds or nanoseconds since 1970, from 2001 to 2286. */
function epochIn(text: string): number | undefined {
  const [, digits = '', fraction = ''] =
    /^(?:\\?\/Date\()?(\d{10}|\d{13}|\d{16}|\d{19})(?:\.(\d+))?(?:[+-]\d{4})?(?:\)\\?\/)?$/.exec(
      text,
    ) ?? [];
  if (digits === '' || dateAndHour.test(digits)) return undefined;
  return Number((digits + fraction).padEnd(13, '0').slice(0, 13));
}

type Parts = { [name: string]: string | undefined };

function dayIn({ year = '', month, day, one, other, dash }: Parts): string | undefined {
  const whole = year.length === 2 ? `20${year}` : year;
  const read = (month: number, day: number) =>
    month >= 1 && month <= 12 && day >= 1 && day <= 31
      ? [`${whole}-${two(month)}-${two(day)}`]
      : [];
  if (month !== undefined) return read(monthOf(month), Number(day))[0];
  const monthFirst = dash === '.' ? [] : read(Number(one), Number(other));
  const readings = new Set([...monthFirst, ...read(Number(other), Number(one))]);
  return readings.size === 1 ? [...readings][0] : undefined;
}

const monthOf = (month: string): number =>
  Number(month) || 1 + monthNames.findIndex((name) => name.startsWith(month.toLowerCase()));

function hourIn({ hour, hours, half }: Parts): number | undefined {
  const read = Number(hour ?? hours);
  if (!half) return read;
  if (read < 1 || read > 12) return undefined;
  return (read % 12) + (/^p/i.test(half) ? 12 : 0);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** What the zones are called that have one meaning; EST, CST and IST have several. */
const zones: [names: string, offset: string][] = [
  ['z ut utc gmt zulu wet', 'Z'],
  ['cet west', '+01:00'],
  ['cest eet', '+02:00'],
  ['eest', '+03:00'],
];
const offsets = new Map(
  zones.flatMap(([names, offset]) => names.split(' ').map((name) => [name, offset])),
);

/** An offset, with names of its zone before or after it. */
const offsetForm =
  /^(?:[a-z]{1,5} ?)?([+-])(?:(\d\d?)(?::(\d\d)(?::00)?)?|(\d\d)(\d\d))(?: [\w/+-]+){0,2}$/i;

/** The offset of a zone, which a local time names. */
function offsetIn(written: string, local: string): string | undefined {
  // Go adds a clock of the process, and many put the name of the zone between brackets.
  const [, name = '', also = ''] =
    /^(.*?) ?((?:[[(][^[\]()]*[\])])*)(?: m=[+-][\d.]+)?$/.exec(written) ?? [];
  const zone = name || also.slice(1, -1);
  const known = offsets.get(zone.toLowerCase());
  if (known) return known;
  const [isOffset, sign, hour, minute = '00', hours, minutes] = offsetForm.exec(zone) ?? [];
  if (isOffset) return `${sign}${two(Number(hour ?? hours))}:${minutes ?? minute}`;
  return /^[a-z]+\/[\w/+-]+$/i.test(zone) ? offsetOf(zone, Date.parse(`${local}Z`)) : undefined;
}

/** The offset at a local time of a zone of the IANA database; undefined where clocks are changed. */
function offsetOf(zone: string, local: number): string | undefined {
  if (Number.isNaN(local)) return undefined;
  try {
    const format = formatFor(zone);
    const at = (ms: number) => /GMT(.*)$/.exec(format.format(ms))?.[1] || '+00:00';
    const around = new Set([at(local - dayMs), at(local + dayMs)]);
    const possible = [...around].filter(
      (offset) => at(local + Date.parse(`1970-01-01T00:00${offset}`)) === offset,
    );
    return possible.length === 1 ? possible[0] : undefined;
  } catch {
    return undefined; // there is no such zone
  }
}

let latest: { zone: string; format: Intl.DateTimeFormat } | undefined;

/** A format takes long to make, and a feed has few zones. @throws RangeError, if there is no such zone */
function formatFor(zone: string): Intl.DateTimeFormat {
  if (latest?.zone !== zone) {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    latest = { zone, format };
  }
  return latest.format;
}
