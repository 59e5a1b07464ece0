import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AlertKind,
  type AlertState,
  decide,
  pausedAfterMs,
  quietMs,
} from '../../../src/webhooks/alerts/policy.ts';

const minute = 60_000;
const now = 1_000 * quietMs;
const nothing: AlertState = {
  pausedFrom: null,
  pausedTo: null,
  failed: 0,
  failedFrom: null,
  toldPausedAt: null,
  toldFailedAt: null,
  toldWorkingAt: null,
};
const longAgo = now - 2 * quietMs;
const pausedFor = (ms: number) => ({ pausedFrom: now - ms });

describe('people are told', () => {
  const cases: [string, Partial<AlertState>, AlertKind[], number?][] = [
    ['nothing when nothing is wrong', {}, []],
    ['of a pause not before it has lasted 15 minutes', pausedFor(14 * minute), [], now + minute],
    ['of a pause of 15 minutes', pausedFor(pausedAfterMs), ['paused']],
    ['of a pause once, however long it lasts', { ...pausedFor(quietMs * 50), toldPausedAt: longAgo }, []],
    ['nothing of a pause that ended before they were told', { ...pausedFor(quietMs), pausedTo: now }, []],
    [
      'that a receiver works again, at once, when they know that it was paused',
      { ...pausedFor(quietMs), pausedTo: now, toldPausedAt: now - minute },
      ['working'],
    ],
    [
      'of the next pause an hour after they were told of the one before',
      { ...pausedFor(20 * minute), toldPausedAt: now - 50 * minute, toldWorkingAt: now - 40 * minute },
      [],
      now + 10 * minute,
    ],
    [
      'of the next pause, when that hour is over',
      { ...pausedFor(20 * minute), toldPausedAt: now - quietMs, toldWorkingAt: now - 40 * minute },
      ['paused'],
    ],
    [
      'that it works again an hour after they were last told so',
      {
        ...pausedFor(20 * minute),
        pausedTo: now,
        toldPausedAt: now - minute,
        toldWorkingAt: now - 50 * minute,
      },
      [],
      now + 10 * minute,
    ],
    ['of failed deliveries at once', { failed: 3, failedFrom: now }, ['failed']],
    [
      'of more failed deliveries when an hour has passed',
      { failed: 3, failedFrom: now, toldFailedAt: now - 50 * minute },
      [],
      now + 10 * minute,
    ],
    [
      'of several kinds at a time',
      { ...pausedFor(pausedAfterMs), failed: 1, failedFrom: now },
      ['paused', 'failed'],
    ],
  ];
  it.each(cases)('%s', (_, state, kinds, nextAt) => {
    expect(decide({ ...nothing, ...state }, now)).toEqual({ kinds, nextAt: nextAt ?? null });
  });
});

it('whatever happens, nobody is told of a kind twice within an hour, nor that what was never paused works', () => {
  const step = fc.record({
    ms: fc.integer({ min: 1, max: 2 * quietMs }),
    change: fc.constantFrom('opens', 'closes', 'fails', 'nothing'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let state = nothing;
      let time = now;
      const told: { kind: AlertKind; at: number }[] = [];
      for (const { ms, change } of steps) {
        time += ms;
        if (change === 'opens') state = { ...state, pausedFrom: time, pausedTo: null };
        if (change === 'closes' && state.pausedFrom !== null) state = { ...state, pausedTo: time };
        if (change === 'fails')
          state = { ...state, failed: state.failed + 1, failedFrom: state.failedFrom ?? time };
        const { kinds, nextAt } = decide(state, time);
        if (nextAt !== null) expect(nextAt).toBeGreaterThan(time);
        for (const kind of kinds) {
          const before = told.filter((one) => one.kind === kind).at(-1);
          if (before) expect(time - before.at).toBeGreaterThanOrEqual(quietMs);
          if (kind === 'working')
            expect(told.filter((one) => one.kind !== 'failed').at(-1)?.kind).toBe('paused');
          told.push({ kind, at: time });
          if (kind === 'paused') state = { ...state, toldPausedAt: time };
          if (kind === 'working') state = { ...state, toldWorkingAt: time };
          if (kind === 'failed') state = { ...state, toldFailedAt: time, failed: 0, failedFrom: null };
        }
      }
    }),
  );
});
