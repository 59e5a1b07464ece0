import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPrintable } from '../src/fields.ts';

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
