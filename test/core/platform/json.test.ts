import fc from 'fast-check';
import { endOfJson } from '#src/core/platform/json.ts';

it.each([
  ['', 0],
  ['{oops}', 1],
  ['{"a": 1,}', 8],
  ['{"a": 1 "b": 2}', 8],
  ["{'a': 1}", 1],
  ['[1, 2', 5],
  ['[1, ]', 4],
  ['[1}', 2],
  ['[01]', 1],
  ['[NaN]', 1],
  ['[1] ]', 4],
  ['{"a": "x\ny"}', 6],
  ['{"a"} ', 4],
])('%j stops being JSON after %i characters', (text, at) => {
  expect(endOfJson(text)).toBe(at);
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

it('text that is not JSON stops where no text could make it JSON again, and JSON at its end', () => {
  const part = fc.constantFrom(
    ...'{}[]:,"\\ \n-1.e+'.split(''),
    '"a"',
    'true',
    'null',
    '\\u00e4',
    '0',
  );
  const text = fc.oneof(
    fc.json(),
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.tuple(fc.json(), fc.nat(), part).map(([json, at, part]) => {
      const place = at % json.length;
      return json.slice(0, place) + part + json.slice(place + 1);
    }),
  );
  fc.assert(
    fc.property(text, (text) => {
      const end = endOfJson(text);
      if (isJson(text)) expect(end).toBe(text.length);
      else expect(end).toBeLessThanOrEqual(text.length);
      if (end < text.length) expect(isJson(text)).toBe(false);
    }),
    { numRuns: 3000 },
  );
});
