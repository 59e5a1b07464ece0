import fc from 'fast-check';
import * as v from 'valibot';
import { Timestamp, timestamp } from '#src/core/platform/fields.ts';
import { rfc3339In } from '#src/core/platform/times.ts';

const read = (text: string): string | undefined => {
  const result = v.safeParse(Timestamp, rfc3339In(text));
  return result.success ? timestamp(result.output) : undefined;
};

const at = '2026-11-29T08:12:00.000Z';
const precise = '2026-11-29T08:12:00.123Z';
const west = '2026-11-29T07:12:00.000Z';

it.each([
  ['RFC 3339', '2026-11-29T08:12:00Z', at],
  ['Java, at a whole minute', '2026-11-29T08:12Z', at],
  ['Java, of a zone', '2026-11-29T08:12+01:00[Europe/Berlin]', west],
  ['a Date of Java', 'Sun Nov 29 08:12:00 UTC 2026', at],
  ['a Date of Java in winter', 'Sun Nov 29 08:12:00 CET 2026', west],
  ['Python, with a fraction', '2026-11-29 08:12:00.123456+00:00', precise],
  ['Go, of a running process', '2026-11-29 13:42:00.123456789 +0530 +0530 m=+0.000012', precise],
  ['PostgreSQL, in its own style', 'Sun Nov 29 08:12:00.123 2026 UTC', precise],
  ['PostgreSQL, in German style', '29.11.2026 08:12:00.12 UTC', '2026-11-29T08:12:00.120Z'],
  ['Oracle', '29-NOV-26 08.12.00.123000 AM +00:00', precise],
  ['Oracle, of a zone', '29-NOV-26 08.12.00.000000 PM EUROPE/BERLIN', '2026-11-29T19:12:00.000Z'],
  ['Trino', '2026-11-29 08:12:00.000 America/New_York', '2026-11-29T13:12:00.000Z'],
  ['Rails', 'Sun, 29 Nov 2026 08:12:00.000000000 UTC +00:00', at],
  ['Rust', '2026-11-29 8:12:00.0 +00:00:00', at],
  ['Elixir', '2026-11-29 08:12:00+01:00 CET Europe/Berlin', west],
  ['.NET', '11/29/2026 8:12:00 AM +00:00', at],
  ['JSON of .NET', '/Date(1795939920123)/', precise],
  ['a cookie', 'Sunday, 29-Nov-2026 08:12:00 UTC', at],
  ['RFC 850', 'Sunday, 29-Nov-26 08:12:00 UTC', at],
  ['a log of a web server', '29/Nov/2026:08:12:00 +0000', at],
  ['Firestore', 'November 29, 2026 at 9:12:00 AM UTC+1', at],
  ['ISO 8601, basic, with an offset', '20261129T0912+0100', at],
  ['ISO 8601, with an hour alone as offset', '2026-11-29T09:12:00+01', at],
  ['lower case', '2026-11-29t08:12:00.123z', precise],
  ['a minus of typographers', '2026-11-29T07:12:00\u221201:00', at],
  ['between quotes', '"2026-11-29T08:12Z"', at],
  ['narrow blanks', '11/29/2026 8:12\u202fAM UTC', at],
  ['seconds', '1795939920', at],
  ['seconds with a fraction', '1795939920.123', precise],
  ['milliseconds', '1795939920123', precise],
  ['microseconds', '1795939920123456', precise],
  ['nanoseconds', '1795939920123456789', precise],
  ['summer in a zone', '2026-07-29 10:12 Europe/Berlin', '2026-07-29T08:12:00.000Z'],
  ['a leap second', '2016-12-31 23:59:60 UTC', '2016-12-31T23:59:59.999Z'],
])('a time as %s is read: %s', (_, text, expected) => {
  expect(read(text)).toBe(expected);
});

it.each([
  ['without a zone', '2026-11-29T08:12:00'],
  ['without a zone, in digits', '20261129081200'],
  ['of a spreadsheet, as days', '46355.34'],
  ['in digits that are also a date and an hour', '2026112908'],
  ['whose day could be its month', '05/11/2026 08:12 UTC'],
  ['whose day could be its year', '26/11/29 08:12 UTC'],
  ['of a zone that has several meanings', 'Sun Nov 29 08:12:00 CST 2026'],
  ['of no zone there is', '2026-11-29 08:12 Europe/Atlantis'],
  ['while clocks are set back', '2026-10-25 02:30 Europe/Berlin'],
  ['while clocks are set forward', '2026-03-29 02:30 Europe/Berlin'],
  ['in a fraction of a minute', '2026-11-29T08:12.5Z'],
  ['of thirteen in the afternoon', '2026-11-29 13:12 PM UTC'],
  ['that does not exist', '2026-02-30 08:12 UTC'],
  ['of a day alone', '2026-11-29'],
  ['of no day', '08:12Z'],
  ['that a spreadsheet rounded', '1.79594E+12'],
  ['with more behind it', '2026-11-29T08:12Z or later'],
  ['that never ends', `2026-11-29 08:12 ${'UTC '.repeat(50_000)}`],
])('a time %s is refused: %s', (_, text) => {
  expect(read(text)).toBeUndefined();
});

describe('any moment', () => {
  const two = (value: number) => String(value).padStart(2, '0');
  const partsOf = (ms: number) => {
    const date = new Date(ms);
    const [weekday, day, month, year, clock] = date.toUTCString().replace(',', '').split(' ');
    const fraction = date.toISOString().slice(19, 23);
    return { iso: date.toISOString(), weekday, day, month, year, clock, fraction };
  };
  const forms: ((parts: ReturnType<typeof partsOf>, zone: string) => string)[] = [
    ({ iso }, zone) => iso.slice(0, 23) + zone,
    ({ iso }, zone) => iso.slice(0, 23).replace('T', ' ') + zone,
    ({ iso }, zone) => `${iso.slice(0, 23).replace('.', ',')} ${zone}`,
    ({ iso }, zone) => iso.slice(0, 23).replace(/[:-]/g, '') + zone.replace(':', ''),
    ({ iso }, zone) => `${iso.slice(0, 23).replace('T', ' ').replaceAll('-', '/')} ${zone}`,
    ({ iso, fraction }, zone) =>
      `${iso.slice(8, 10)}.${iso.slice(5, 7)}.${iso.slice(0, 4)} ${iso.slice(11, 19)}${fraction} ${zone}`,
    ({ weekday, day, month, year, clock, fraction }, zone) =>
      `${weekday}, ${day} ${month} ${year} ${clock}${fraction} ${zone}`,
    ({ weekday, day, month, year, clock, fraction }, zone) =>
      `${weekday} ${month} ${day} ${clock}${fraction} ${zone} ${year}`,
    ({ weekday, day, month, year, clock, fraction }, zone) =>
      `${weekday} ${month} ${day} ${year} ${clock}${fraction} GMT${zone} (Some Time)`,
  ];
  const moment = fc.integer({ min: 86_400_000, max: Date.UTC(9999, 11, 30) });
  const form = fc.constantFrom(...forms);

  it('is read as itself in each form, at any offset', () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: -1439, max: 1439 }), form, (ms, offset, form) => {
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const text = form(partsOf(ms + offset * 60_000), zone);
        expect([text, read(text)]).toEqual([text, new Date(ms).toISOString()]);
      }),
      { numRuns: 2000 },
    );
  });

  it('is not read in any form without a zone', () => {
    fc.assert(
      fc.property(moment, fc.constantFrom(...forms.slice(0, -1)), (ms, form) => {
        expect(read(form(partsOf(ms), ''))).toBeUndefined();
      }),
    );
  });
});
