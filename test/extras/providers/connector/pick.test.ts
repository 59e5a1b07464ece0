import fc from 'fast-check';
import {
  maxItem,
  maxKept,
  maxValues,
  Picker,
  wantedNames,
} from '#src/extras/providers/connector/pick.ts';

const wanted = wantedNames('data id name next list links raw url', { links: 1 }, ['url']);

function picked(text: string, piece = 4096) {
  const picker = new Picker(wanted);
  for (let at = 0; at < text.length; at += piece) picker.write(text.slice(at, at + piece));
  const kept = picker.end();
  return { json: kept === undefined ? undefined : JSON.parse(kept), tooLarge: picker.tooLarge };
}
const of = (value: unknown) => picked(JSON.stringify(value));

it('keeps the wanted properties of any JSON, in whatever pieces it comes', () => {
  const json = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, -1.5e-7, 0),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('"', '\\', '\\"', '{[]}', '\u2028', ','),
      fc.array(tie('any')),
      fc.dictionary(
        fc.constantFrom('id', 'name', 'data', 'other', 'a"b', '__proto__', ''),
        tie('any'),
      ),
    ),
  })).any;
  const kept = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(kept);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([name]) => wanted.names.has(name));
    return Object.fromEntries(entries.map(([name, one]) => [name, kept(one)]));
  };
  fc.assert(
    fc.property(
      json,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 2),
      (value, piece, space) => {
        expect(picked(JSON.stringify(value, null, space), piece).json).toEqual(kept(value));
      },
    ),
    { numRuns: 500 },
  );
});

it.each([
  '',
  '<html>',
  '{"data": [{"id": 1}',
  '{"id": "a',
  '[1, 2',
  '{"id": 1} x',
  '{"id": nothing}',
])('does not make JSON of %j', (text) => {
  expect(() => picked(text)).toThrow(SyntaxError);
});

describe('what is not wanted takes no room', () => {
  it('however much it is', () => {
    const other = Array(100_000).fill({ speed: [1.5, 2.5], link: 'x"'.repeat(10) });
    expect(of({ data: [{ id: 1, other, name: 'Jo' }], next: 'b' })).toEqual({
      json: { data: [{ id: 1, name: 'Jo' }], next: 'b' },
      tooLarge: [],
    });
  });

  it('except for the first texts of an object whose names are unknown', () => {
    const links = { none: null, many: [1], front: 'https://a', rear: 'https://b' };
    expect(of({ links }).json).toEqual({ links: { front: 'https://a' } });
    expect(of({ links: ['https://a', 'https://b', {}] }).json).toEqual({ links: ['https://a'] });
  });
});

it('leaves out details once they take a quarter of the room, of a reply or of an item', () => {
  const url = 'x'.repeat(3000);
  const { json, tooLarge } = of({
    data: Array.from({ length: 800 }, (_, id) => ({ id, url, name: 'Jo' })),
  });
  const kept = json.data.filter(({ url }: { url?: string }) => url !== undefined).length;
  expect(kept).toBe(Math.ceil(maxKept / 4 / JSON.stringify({ id: 100, url, name: 'Jo' }).length));
  expect(json.data.at(-1)).toEqual({ id: 799, name: 'Jo' });
  expect(tooLarge).toEqual([]);
  const list = Array(40).fill({ url });
  expect(JSON.stringify(of({ data: [{ id: 1, list }] }).json).length).toBeLessThan(maxItem / 3);
});

it.each(['x', '"', '\\', '\u0007', 'xx\u0007', '\\x'])('cuts a text of many %j', (part) => {
  const name = part.repeat(5000);
  const { json } = of({ name, id: 2 });
  expect(json.id).toBe(2);
  expect(name.startsWith(json.name)).toBe(true);
  expect(json.name.length).toBeLessThanOrEqual(4000);
});

const large = Array(Math.ceil(maxItem / 100)).fill('x'.repeat(100));
it.each([
  ['at once', { id: 'a', list: large }],
  ['in the end', { list: large, id: 'a', name: 'Jo' }],
  ['in an object of its own', { data: { list: large, id: 'a', raw: { id: 'b' } } }],
  ['in what it is made of', { raw: [{ id: 'b', list: large }], id: 'a' }],
])('an item that is too large leaves its id, if it says that %s', (_, item) => {
  expect(of({ data: [{ id: 1 }, item, { id: 2 }], next: 'b' })).toEqual({
    json: { data: [{ id: 1 }, { id: 'a' }, { id: 2 }], next: 'b' },
    tooLarge: ['a'],
  });
});

it('an item that is too large leaves null, if it has none', () => {
  expect(of([{ list: large }])).toEqual({ json: [{ id: null }], tooLarge: [null] });
});

it.each([
  ['characters', 'x'.repeat(3000), Math.ceil(maxKept / 3000) + 1],
  ['values', Array(1000).fill(1), Math.ceil(maxValues / 1003) + 1],
])('keeps the ids of items for whose %s there is no room any more', (_, list, count) => {
  const data = Array.from({ length: count + 5 }, (_, id) => ({ id, list }));
  const { json, tooLarge } = of({ data, next: 'b' });
  expect(json.data.map(({ id }: { id: number }) => id)).toEqual(data.map(({ id }) => id));
  expect(tooLarge.length).toBeGreaterThan(3);
  expect(tooLarge).toEqual(data.slice(-tooLarge.length).map(({ id }) => id));
  expect(json.next).toBe('b');
});

it('gives a reply up that has too much even so', { tags: ['proof'] }, () => {
  const data = Array(maxKept).fill({ id: 1 });
  expect(of({ data }).json).toBeUndefined();
  expect(of({ list: Array(maxValues + 10).fill(1) }).json.list.length).toBeLessThanOrEqual(
    maxValues + 1,
  );
});
