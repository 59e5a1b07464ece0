import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { isPrintable, Timestamp, timestamp } from '../../src/platform/fields.ts';

describe('printable text', () => {
  it.each(['Truck 7', 'Müller & Söhne <Nord>', 'שלום\u200F', '渋谷 7', '👩\u200D🚒', 'a\u00A0b', ''])(
    'is %j',
    (text) => {
      expect(isPrintable(text)).toBe(true);
    },
  );

  it('has no control character anywhere', () => {
    const control = fc.oneof(fc.integer({ min: 0, max: 0x1f }), fc.integer({ min: 0x7f, max: 0x9f }));
    fc.assert(
      fc.property(fc.string(), control, fc.string(), (before, code, after) => {
        expect(isPrintable(before + String.fromCharCode(code) + after)).toBe(false);
      }),
    );
  });

  it.each([
    ...['\u202A', '\u202B', '\u202C', '\u202D', '\u202E', '\u2066', '\u2067', '\u2068', '\u2069'],
    ...['\u2028', '\u2029', '\uD800', '\uDC00'],
  ])('turns no direction, breaks no line and is whole: %j', (character) => {
    expect(isPrintable(`exe${character}fdp`)).toBe(false);
  });
});

describe('a time', () => {
  const read = (text: string) => v.safeParse(Timestamp, text);
  const two = (n: number) => String(n).padStart(2, '0');

  it.each([
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999Z'],
    ['1969-12-31T23:30:00-00:30', '1970-01-01T00:00:00.000Z'],
    ['2026-11-20t20:00:00.5z', '2026-11-20T20:00:00.500Z'],
    ['2026-11-20T20:00:00.1234567890123Z', '2026-11-20T20:00:00.123Z'],
    ['2024-02-29T00:00:00+23:59', '2024-02-28T00:01:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999Z'],
    ['1990-12-31T15:59:60.25-08:00', '1990-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:60Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, expected) => {
    expect(timestamp(v.parse(Timestamp, text))).toBe(expected);
  });

  it.each([
    ...['9999-12-31T23:59:59-00:01', '1970-01-01T00:00:00+00:01', '0070-01-01T00:00:00Z'],
    ...['2026-02-29T00:00:00Z', '2026-11-20T24:00:00Z', '2026-13-10T00:00:00Z', '2026-11-00T00:00:00Z'],
    ...['2026-11-20T20:60:00Z', '2026-11-20T20:00:60Z', '2026-11-20T20:00:00+24:00'],
    ...['2026-11-20T20:00Z', '2026-11-20T20:00:00', '2026-11-20 20:00:00Z', '2026-11-20', ''],
    ...['2026-11-20T20:00:00.Z', '2026-11-20T20:00:00Z\n', '٢٠٢٦-11-20T20:00:00Z'],
  ])('%j does not exist', (text) => {
    expect(read(text).success).toBe(false);
  });

  it('keeps its moment through any offset, or is refused for leaving 1970 to 9999', () => {
    const moment = fc.integer({ min: -86_400_000, max: Date.UTC(9999, 11, 31) + 2 * 86_400_000 });
    fc.assert(
      fc.property(moment, fc.integer({ min: -1439, max: 1439 }), (ms, offset) => {
        const local = new Date(ms + offset * 60_000).toISOString();
        fc.pre(!local.startsWith('+'));
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const result = read(local.replace('Z', zone));
        const exists = ms >= 0 && ms < Date.UTC(9999, 11, 31) + 86_400_000;
        expect(result.success ? result.output : undefined).toBe(exists ? ms : undefined);
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused, never misread, whatever text it is', () => {
    const part = fc.constantFrom(...'0123456789-:.TZtz+ ', '24:00:00', ':60', '-00:01', '9999-12-31');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const result = read(parts.join(''));
        if (result.success) expect(timestamp(result.output)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      }),
      { numRuns: 2000 },
    );
  });
});
