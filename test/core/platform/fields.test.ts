import fc from 'fast-check';
import * as v from 'valibot';
import { refusalIn } from '#src/core/platform/errors.ts';
import {
  EmailAddress,
  isPrintable,
  parse,
  Timestamp,
  timestamp,
} from '#src/core/platform/fields.ts';
import { times } from '#test/support/records.ts';

describe('a body', () => {
  const Body = v.object({
    name: v.string(),
    notify: v.optional(v.boolean(), true),
    groups: v.optional(v.array(v.string())),
    filters: v.optional(v.nullable(v.object({ risk: v.optional(v.number()) }))),
    headers: v.optional(v.record(v.string(), v.string())),
    externalId: v.nullable(v.string()),
  });
  const refusedWith = (input: unknown) => {
    try {
      return parse(Body, input);
    } catch (error) {
      const failure = refusalIn(error)?.failure;
      if (failure?.kind !== 'invalid') throw error;
      return failure.errors;
    }
  };

  const least = { name: 'a', externalId: null };
  it.each<[some: object, more?: object]>([
    ...[null, '', undefined].map((nothing): [object] => [
      { notify: nothing, groups: nothing, headers: nothing },
    ]),
    [{ groups: [], externalId: '' }],
    [{ filters: null }, { filters: null }],
    [{ filters: '' }, { filters: null }],
    [
      { filters: { risk: null }, headers: {} },
      { filters: {}, headers: {} },
    ],
  ])('has optional properties that are null or empty as if they were absent: %j', (some, more) => {
    expect(parse(Body, { ...least, ...some })).toEqual({ ...least, notify: true, ...more });
  });

  it.each([
    [{ name: null }, 'name', 'must be a string'],
    [{ filters: [] }, 'filters', 'must be an object'],
    [{ filters: { Risk: 5 } }, 'filters.Risk', 'is not a property here, did you mean risk?'],
    [{ notfy: false }, 'notfy', 'is not a property here, did you mean notify?'],
    [{ colour: 'red' }, 'colour', /^is not a property here; known are name, notify, groups, /],
    [JSON.parse('{"__proto__": 1}'), '__proto__', /^is not a property here; known are /],
    [{ constructor: 1 }, 'constructor', /^is not a property here; known are /],
    [{ ['p'.repeat(60)]: 1 }, `${'p'.repeat(50)}…`, /^is not a property here; known are /],
    [{ '': 1 }, '(not printable)', /^is not a property here; known are /],
    [{ 'a\u202Eb': 1 }, '(not printable)', /^is not a property here; known are /],
  ])('%j is refused', (some, field, message) => {
    const about = {
      field,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    };
    expect(refusedWith({ name: 'a', externalId: null, ...some })).toEqual([about]);
  });

  it('is refused with at most twenty errors, however many names it has', () => {
    const names = Object.fromEntries(times(50_000, (i) => [`name${i}`, 1]));
    expect(refusedWith(names)).toHaveLength(20);
  });
});

describe('printable text', () => {
  it.each([
    ...['Truck 7', 'Müller & Söhne <Nord>', 'שלום\u200F', '渋谷 7', 'Żółw – “North”'],
    ...['👩\u200D🚒', 'a\u00A0b', ''],
  ])('is %j', (text) => {
    expect(isPrintable(text)).toBe(true);
  });

  it('has no control character anywhere', () => {
    const control = fc.oneof(
      fc.integer({ min: 0, max: 0x1f }),
      fc.integer({ min: 0x7f, max: 0x9f }),
    );
    fc.assert(
      fc.property(fc.string(), control, fc.string(), (before, code, after) => {
        expect(isPrintable(before + String.fromCharCode(code) + after)).toBe(false);
      }),
    );
  });

  it.each([
    ...'\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u2028\u2029',
    ...['\uD800', '\uDC00'],
  ])('turns no direction, breaks no line and is whole: %j', (character) => {
    expect(isPrintable(`exe${character}fdp`)).toBe(false);
  });
});

describe('a time', () => {
  const read = (text: string) => v.safeParse(Timestamp, text);

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
    ...'9999-12-31T23:59:59-00:01 1970-01-01T00:00:00+00:01 0070-01-01T00:00:00Z'.split(' '),
    ...'2026-02-29T00:00:00Z 2026-13-10T00:00:00Z 2026-11-00T00:00:00Z'.split(' '),
    ...'2026-11-20T24:00:00Z 2026-11-20T20:60:00Z 2026-11-20T20:00:60Z'.split(' '),
    ...'2026-11-20T20:00:00+24:00 2026-11-20T20:00Z 2026-11-20T20:00:00 2026-11-20'.split(' '),
    ...'2026-11-20T20:00:00.Z 2026-11-20T20:00:00Z\n ٢٠٢٦-11-20T20:00:00Z'.split(' '),
    ...['', '2026-11-20 20:00:00Z'],
  ])('%j does not exist', (text) => {
    expect(read(text).success).toBe(false);
  });

  it('is refused, never misread, whatever text it is', () => {
    const part = fc.constantFrom(
      ...'0123456789-:.TZtz+ ',
      '24:00:00',
      ':60',
      '-00:01',
      '9999-12-31',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const result = read(parts.join(''));
        if (result.success) expect(timestamp(result.output)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an email address', () => {
  const read = (text: string) => v.safeParse(EmailAddress, text);
  const label = 'a'.repeat(63);

  it.each([
    ['ann@example.com'],
    ['  ann@example.com\n', 'ann@example.com'],
    ["Pat.O'Brien@example.com"],
    ['r&d!=x#$%*+/?^_`{|}~-@example.com'],
    ['ann@münchen.de', 'ann@xn--mnchen-3ya.de'],
    ['ann@Post.МОСКВА.рф', 'ann@post.xn--80adxhks.xn--p1ai'],
    ['ann@fleet.xn--p1ai'],
    [`${'a'.repeat(64)}@${label}.${label}.${label}.${'b'.repeat(61)}`],
  ])('%j is one', (text, expected = text) => {
    expect(read(text)).toMatchObject({ success: true, output: expected });
  });

  it.each([
    ...'ann @example.com ann@@example.com a@b@example.com ann@localhost'.split(' '),
    ...'ann@127.0.0.1 ann@[127.0.0.1] ann@example.c ann@1.23 ann@-a.com ann@a-.com'.split(' '),
    ...'ann@a..com ann@a.com. ann@a_b.com .ann@a.com ann.@a.com a..b@a.com'.split(' '),
    ...'ann@a.com,b@a.com mailto:ann@a.com änn@a.com ann@ä/b.com ann@ä:80'.split(' '),
    ...['', 'a b@a.com', '"a b"@a.com', 'Ann <ann@a.com>', 'ann@ä\\.com', 'ann@ä %.com'],
    ...['ann@a.com\u0000', 'ann@a.com\r\nBcc: b@a.com', `ann@${label}a.com`],
    ...[`${'a'.repeat(65)}@a.com`, `a@${'a.'.repeat(130)}com`, `a@${'ä'.repeat(63)}.com`],
    'a'.repeat(100_000),
  ])('%j is none', (text) => {
    expect(read(text).success).toBe(false);
  });
});
