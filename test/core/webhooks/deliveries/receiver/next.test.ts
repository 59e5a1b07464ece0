import fc from 'fast-check';
import { hourMs, minuteMs } from '#src/core/platform/durations.ts';
import {
  type Attempt,
  accidentRetryMs,
  circuitAccidentOpenings,
  circuitFirstMs,
  circuitLongestMs,
  longestTimerMs,
} from '#src/core/webhooks/deliveries/policy.ts';
import {
  next,
  paceMs,
  type ReceiverState,
  recoveredFrom,
  type Shown,
  withTimer,
} from '#src/core/webhooks/deliveries/receiver/next.ts';

const now = 1_800_000_000_000;
const healthy: ReceiverState = {
  failures: 0,
  openings: 0,
  openUntil: 0,
  window: 5,
  timerAt: null,
  pausedSince: null,
  lastFailure: null,
};
const attempt = (result: Partial<Attempt>): Attempt =>
  ({ at: now, durationMs: 10, answer: '', ...result }) as Attempt; // as a call would end
const ok = attempt({ result: 'success', status: 200 });
const slow = attempt({ result: 'success', status: 200, durationMs: 5001 });
const refused = attempt({ result: 'status', status: 400 });
const lastFailure = { result: 'status', status: 400 } as const;
const overloads: Partial<Attempt>[] = [
  { result: 'timeout' },
  { result: 'status', status: 429 },
  { result: 'status', status: 503 },
];
const stateAfter = (
  before: Partial<ReceiverState>,
  attempts: Attempt[],
  shown: Partial<Shown> = {},
) => {
  const usual = { window: 5, more: false, ceiling: 50, accidentWaits: false };
  return next({ ...healthy, ...before }, { ...usual, ...shown, attempts }, now);
};
const failing = (failures: number, more: Partial<ReceiverState> = {}) => ({
  failures,
  lastFailure,
  ...more,
});
const open = (openings: number, openUntil: number, since = now - 1) => ({
  ...failing(5, { openings, openUntil }),
  window: 1,
  pausedSince: since,
});

describe('a receiver', () => {
  it.each<[string, Partial<ReceiverState>, Attempt[], Partial<ReceiverState>]>([
    ['that works stays as it is', {}, [ok, slow], {}],
    [
      'that works again has not failed, but what failed last is known',
      failing(3),
      [refused, ok],
      { lastFailure },
    ],
    [
      'that fails five times in a row is paused',
      failing(3),
      [refused, refused],
      open(1, now + circuitFirstMs, now),
    ],
    [
      'that was called before it was paused is not paused again',
      open(1, now + 9),
      [refused],
      { ...open(1, now + 9), failures: 6 },
    ],
    [
      'whose probe fails is paused twice as long',
      open(1, now),
      [refused],
      { ...open(2, now + 2 * circuitFirstMs), failures: 6 },
    ],
    [
      'is never paused for more than 15 minutes',
      open(40, now),
      [refused],
      { ...open(41, now + circuitLongestMs), failures: 6 },
    ],
    [
      'whose probe succeeds is called again, carefully',
      open(3, now),
      [ok],
      { window: 1, lastFailure },
    ],
  ])('%s', (_, before, attempts, expected) => {
    expect(stateAfter(before, attempts)).toEqual({ ...healthy, ...expected });
  });

  it('of which nothing is new stays as it is', () => {
    const before = { ...healthy, ...failing(3) };
    expect(
      next(before, { attempts: [], window: 5, more: true, ceiling: 50, accidentWaits: true }, now),
    ).toBe(before);
  });

  it.each([
    [0, accidentRetryMs],
    [circuitAccidentOpenings - 1, accidentRetryMs],
    [circuitAccidentOpenings, circuitLongestMs],
  ])('that was paused %i times while an accident waits is paused for %i ms', (openings, ms) => {
    const { openUntil } = stateAfter(open(openings, now), [refused], { accidentWaits: true });
    expect(openUntil).toBe(now + ms);
  });

  it.each(overloads)(
    'gets half as many calls at once after %j, once for all that saw it so',
    (overload) => {
      const halved = (window: number, seen: number) =>
        stateAfter({ window }, [ok, attempt(overload)], { window: seen, more: true }).window;
      expect([halved(40, 40), halved(20, 40), halved(20, 20), halved(1, 1)]).toEqual([
        20, 20, 10, 1,
      ]);
    },
  );

  it.each<[number, string, number, Attempt[], Partial<Shown>]>([
    [20, 'twice as many if all respond in time and more is due', 10, [ok, ok], {}],
    [50, 'no more than fifty', 40, [ok], { window: 40 }],
    [12, 'no more than the operator allows', 10, [ok], { ceiling: 12 }],
    [10, 'no more if nothing more is due', 10, [ok], { more: false }],
    [10, 'no more if one takes more than five seconds', 10, [ok, slow], {}],
    [10, 'no more if one is refused', 10, [ok, refused], {}],
    [10, 'no more if another worker has changed that', 10, [ok], { window: 5 }],
  ])('gets %i calls at once: %s', (expected, _, window, attempts, shown) => {
    expect(stateAfter({ window }, attempts, { window: 10, more: true, ...shown }).window).toBe(
      expected,
    );
  });

  const outcomes = fc.array(fc.constantFrom(ok, slow, refused, ...overloads.map(attempt)), {
    maxLength: 12,
  });
  const anyState = fc.record({
    failures: fc.nat(9),
    openings: fc.nat(50),
    window: fc.integer({ min: 1, max: 50 }),
  });

  it('is paused if and only if it has failed five times in a row, for 15 minutes at most', () => {
    fc.assert(
      fc.property(fc.array(outcomes), fc.boolean(), (batches, accidentWaits) => {
        let state = healthy;
        const all: Attempt[] = [];
        for (const attempts of batches) {
          state = next(state, { attempts, window: 5, more: true, ceiling: 50, accidentWaits }, now);
          all.push(...attempts);
          const inARow = all.length - 1 - all.findLastIndex(({ result }) => result === 'success');
          expect(state.failures).toBe(inARow);
          expect([state.openUntil > now, state.pausedSince !== null]).toEqual(
            Array(2).fill(inARow >= 5),
          );
          expect(state.openUntil).toBeLessThanOrEqual(now + circuitLongestMs);
        }
      }),
    );
  });

  it('always gets between one call at once and what it got or may get', () => {
    fc.assert(
      fc.property(anyState, outcomes, fc.boolean(), (before, attempts, more) => {
        const { window } = stateAfter(before, attempts, { window: before.window, more });
        expect(window).toBeGreaterThanOrEqual(1);
        expect(window).toBeLessThanOrEqual(Math.min(50, 2 * before.window));
      }),
    );
  });
});

it.each([
  [undefined, healthy, [ok]],
  [undefined, failing(4), [refused]],
  ['failing', failing(4), [ok]],
  ['open', failing(5), [ok]],
])('it is news (%s) whether a receiver works again', (expected, before, attempts) => {
  const state = { ...healthy, ...before };
  expect(recoveredFrom(state, stateAfter(state, attempts))).toBe(expected);
});

describe('the timer of a webhook', () => {
  const timed = (before: Partial<ReceiverState>, dueAt: number | null, accidentWaits = false) =>
    withTimer({ ...healthy, ...before }, { dueAt, accidentWaits }, now);

  it.each<[string, Partial<ReceiverState>, number | null, number | null]>([
    ['is not set if nothing is due', {}, null, null],
    ['is when the next delivery is due', {}, now + 5, now + 5],
    ['stays if it comes earlier', { timerAt: now + 4 }, now + 5, now + 4],
    ['is set anew if it would come later', { timerAt: now + 6 }, now + 5, now + 5],
    ['is set anew if its time is over', { timerAt: now }, now + 5, now + 5],
    ['is no later than a message can be', {}, now + 20 * hourMs, now + longestTimerMs],
    ['is when a pause ends', open(1, now + minuteMs), now + 5, now + minuteMs],
    ['is when the next delivery is due if a pause has ended', open(1, now), now + 5, now + 5],
  ])('%s', (_, before, dueAt, timerAt) => {
    expect(timed(before, dueAt)).toEqual({ ...healthy, ...before, timerAt });
  });

  it('is soon, with a probe, when an accident comes in during a long pause', () => {
    const probed = { ...open(0, now + accidentRetryMs), timerAt: now + accidentRetryMs };
    expect(timed(open(9, now + 15 * minuteMs), null, true)).toEqual({ ...healthy, ...probed });
    expect(timed(open(9, now + 5), null, true)).toMatchObject({ openings: 9, timerAt: now + 5 });
  });
});

it.each([
  ['none', null, 9_000, 0],
  ['a call a second', 1, 9_000, 9_000],
  ['20 a second, of which five at once', 20, 9_000, 8_800],
  ['20 a second, long ago', 20, -1, 0],
])('a limit of %s is waited for', (_, maxPerSecond, nextCallAt, ms) => {
  expect(paceMs({ maxPerSecond, nextCallAt }, 0)).toBe(ms);
});
