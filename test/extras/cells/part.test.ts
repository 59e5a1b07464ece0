import { decodePart, encodePart, type Part } from '#src/extras/cells/operator/part.ts';

const now = {
  accountId: 'a',
  to: 'eu',
  state: 'copying' as const,
  rows: 3,
  seconds: 60,
  copied: 1,
  problem: null,
  id: 'm',
  since: 1,
  at: 0,
  after: ['é', null],
};
const part: Part = { from: 'main', now, next: { ...now, at: 1 } };

it.each<Part>([part, { ...part, file: { key: 'archive/ü', md5: null } }])(
  'a part is decoded as it was encoded',
  (one) => {
    expect(decodePart(encodePart(one))).toEqual(one);
  },
);

it.each([
  '%',
  'x',
  'null',
  '{"from":"main"}',
  JSON.stringify({ ...part, now: {} }),
  JSON.stringify({ ...part, next: undefined }),
  JSON.stringify({ ...part, file: 'x' }),
])('%s is refused as no part of a move', (text) => {
  expect(() => decodePart(encodeURIComponent(text))).toThrow(
    expect.objectContaining({ failure: { kind: 'invalid', message: 'Not a part of a move' } }),
  );
  expect(() => decodePart(text)).toThrow();
});
