import { spanOf, tagIn } from '#src/extras/evidence/range.ts';

const response = (status: number, headers: Record<string, string>) => ({
  status,
  headers: new Headers(headers),
});
const version = { tag: '"1"', total: 100 };
const rest = { 'content-range': 'bytes 40-99/100', 'content-length': '60', etag: '"1"' };

it.each([
  ['the rest of it', 206, rest, { from: 40, end: 100, total: 100 }],
  [
    'some of the rest',
    206,
    { 'content-range': 'bytes 40-49/100' },
    { from: 40, end: 50, total: 100 },
  ],
  ['all of it instead', 200, { 'content-length': '90' }, { from: 0, end: 90, total: 90 }],
  ['all of it, encoded', 200, { 'content-length': '9', 'content-encoding': 'gzip' }, 'unknown end'],
  ['its end', 416, { 'content-range': 'bytes */40' }, undefined],
  ['another offset', 206, { ...rest, 'content-range': 'bytes 30-99/100' }, undefined],
  ['another total', 206, { ...rest, 'content-range': 'bytes 40-99/101' }, undefined],
  ['another length', 206, { ...rest, 'content-length': '59' }, undefined],
  ['more than there is', 206, { 'content-range': 'bytes 40-100/100' }, undefined],
  ['another version', 206, { ...rest, etag: '"2"' }, undefined],
  ['an encoded part', 206, { ...rest, 'content-encoding': 'gzip' }, undefined],
  ['no range', 206, { 'content-length': '60' }, undefined],
  ['an error', 404, {}, undefined],
])('a server that is asked for the rest may send %s', (_, status, headers, expected) => {
  const unknown = { from: 0, end: null, total: null };
  expect(spanOf(response(status, headers as Record<string, string>), 40, version)).toEqual(
    expected === 'unknown end' ? unknown : expected,
  );
});

it('what a server did not say of a file before is known from the rest', () => {
  const unknown = { tag: null, total: null };
  expect(spanOf(response(206, rest), 40, unknown)).toEqual({ from: 40, end: 100, total: 100 });
  expect(spanOf(response(206, { 'content-range': 'bytes 40-99/*' }), 40, unknown)).toBeUndefined();
  expect(spanOf(response(416, { 'content-range': 'bytes */40' }), 40, unknown)).toMatchObject({
    end: 40,
  });
  expect(spanOf(response(416, {}), 40, unknown)).toBeUndefined();
});

it('a part that nobody asked for is none', () => {
  expect(spanOf(response(206, { 'content-range': 'bytes 0-99/100' }), 0, version)).toBeUndefined();
});

it('a version is told by a strong tag, or by when it changed', () => {
  const changed = 'Fri, 20 Nov 2026 20:00:00 GMT';
  expect(tagIn(new Headers({ etag: '"a"', 'last-modified': changed }))).toBe('"a"');
  expect(tagIn(new Headers({ etag: 'W/"a"', 'last-modified': changed }))).toBe(changed);
  expect(tagIn(new Headers())).toBeNull();
  expect(tagIn(new Headers({ etag: `"${'a'.repeat(200)}"` }))).toBeNull(); // too long to be kept
});
