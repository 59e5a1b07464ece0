import { isNotReady, typeOf } from '#src/extras/evidence/types.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

/** A box of MP4: its size, type and contents, which are longer than we see if `size` says so. */
function box(type: string, contents = '', size = 8 + contents.length) {
  return (
    String.fromCharCode(...[24, 16, 8, 0].map((bits) => (size >>> bits) & 0xff)) + type + contents
  );
}
const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const ftyp = (brand: string) => box('ftyp', `${brand}\0\0\0\0`);
const rest = box('mdat', 'pictures');

it.each([
  ['video', ftyp('isom') + rest, 'video/mp4'],
  ['video', ftyp('XAVC') + box('uuid', 'x'.repeat(20)) + rest, 'video/mp4'],
  ['video', ftyp('mp41') + box('free', '12345678', 9_000_000), 'video/mp4'],
  ['video', ftyp('qt  ') + rest, 'video/quicktime'],
  ['video', box('wide') + rest, 'video/quicktime'],
  ['video', box('mdat', '\0\0\0\x01\0\0\0\0more', 1), 'video/quicktime'], // 64 bits of size
  ['video', box('mdat', 'to the end of the file', 0), 'video/quicktime'],
  ['video', box('moov', 'x'.repeat(20)) + rest, 'video/quicktime'],
  ['video', box('free', '12345678') + rest, 'video/quicktime'],
  ['video', `${ftyp('isom')}no box, and no pictures`, undefined],
  ['video', ftyp('isom'), undefined],
  ['video', box('ftyp', 'isom\0\0\0\0', 4) + rest, undefined],
  ['video', '\x1aE\xdf\xa3 and more', 'video/webm'],
  ['photo', '\x89PNG\r\n\x1a\n and more', 'image/png'],
  ['document', '\x89PNG\r\n\x1a\n', 'image/png'],
  ['photo', '\xff\xd8\xff\xe0', 'image/jpeg'],
  ['photo', 'RIFF\x80\x00\x9f\x00WEBPVP8 ', 'image/webp'],
  ['photo', '<svg>', undefined],
  ['document', '%PDF-1.7', 'application/pdf'],
  ['document', '{"a": 1}', undefined],
  ['telemetry', ' [{"a": 1}]', 'application/json'],
] as const)('a %s that begins with %j is %s', (kind, start, type) => {
  expect(typeOf(kind, bytes(start))).toBe(type);
});

it.each(['Zeit;km/h', 'Österreich,1', '時刻,速度', '"time",1', '\ufefftime\tspeed'])(
  'telemetry may begin with any letter: %s',
  (text) => {
    expect(typeOf('telemetry', utf8(text))).toBe('text/csv');
  },
);
it.each(['<svg xmlns="x">, </svg>', '<html>,', '\0\x01,', 'no separator'])(
  'telemetry is neither a page nor binary: %j',
  (text) => {
    expect(typeOf('telemetry', utf8(text))).toBeUndefined();
  },
);

it.each([
  ['{"status": "processing"}', true],
  ['{"data": {"state": "IN_PROGRESS"}}', true],
  ['{"message": "The video is still processing, try later"}', true],
  ['{"processing": true}', true],
  ['{"processing": false, "error": "expired"}', false],
  ['processing', false],
  [`{"status": "processing", "rows": "${'x'.repeat(1000)}"}`, false],
])('a short note in JSON says that a file is not ready: %s', (text, expected) => {
  expect(isNotReady(utf8(text))).toBe(expected);
});
