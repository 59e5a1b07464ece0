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
  pausedNotifiedAt: null,
  failedNotifiedAt: null,
  workingNotifiedAt: null,
};
const longAgo = now - 2 * quietMs;
const pausedFor = (ms: number) => ({ pausedFrom: now - ms });

describe('people are notified', () => {
  const cases: [string, Partial<AlertState>, AlertKind[], number?][] = [
    ['of a pause not before it has lasted 15 minutes', pausedFor(14 * minute), [], now + minute],
    ['of a pause of 15 minutes', pausedFor(pausedAfterMs), ['paused']],
    ['of a pause once, however long it lasts', { ...pausedFor(quietMs * 50), pausedNotifiedAt: longAgo }, []],
    ['nothing of a pause that ended before they were notified', { ...pausedFor(quietMs), pausedTo: now }, []],
    [
      'that a receiver works again, at once, when they know that it was paused',
      { ...pausedFor(quietMs), pausedTo: now, pausedNotifiedAt: now - minute },
      ['working'],
    ],
    [
      'of the next pause, when that hour is over',
      { ...pausedFor(20 * minute), pausedNotifiedAt: now - quietMs, workingNotifiedAt: now - 40 * minute },
      ['paused'],
    ],
    ['of failed deliveries at once', { failed: 3, failedFrom: now }, ['failed']],
    [
      'of more failed deliveries when an hour has passed',
      { failed: 3, failedFrom: now, failedNotifiedAt: now - 50 * minute },
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
