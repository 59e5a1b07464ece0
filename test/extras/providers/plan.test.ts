import { dayMs, minuteMs } from '#src/core/platform/durations.ts';
import {
  type FeedName,
  feedNames,
  ProviderError,
  type ProviderErrorKind,
} from '#src/extras/providers/connector/connector.ts';
import { inPasses } from '#src/extras/providers/connector/passes.ts';
import { motive } from '#src/extras/providers/motive/connector.ts';
import {
  afterPage,
  afterPart,
  afterProblem,
  type Feeds,
  healthOf,
  historyProgress,
  lateMs,
  nextDueAt,
  nextTask,
  type Planned,
  silentMs,
  startAgain,
} from '#src/extras/providers/plan.ts';
import { samsara as connector } from '#src/extras/providers/samsara/connector.ts';

const connectedAt = Date.UTC(2026, 10, 20, 12, 0, 0);
const planned = (feeds: Feeds = {}, historyDays = 0) => ({
  connector,
  feeds,
  connectedAt,
  historyDays,
});

const all = new Set(feedNames);
const complete = { cursor: null, isComplete: true as const };
const allAre = (state: Feeds['events'] & object) =>
  Object.fromEntries(feedNames.map((name) => [name, state]));
const caughtUp = (pulledAt: number) => ({
  ...allAre({ ...complete, pulledAt }),
  events: complete,
});

/** Works through all that is due at a time, one page each. Returns the feeds, a window's with its first day. */
function work(state: Planned, now: number) {
  const done = new Set<FeedName>();
  const pulled: string[] = [];
  for (let task = nextTask(state, now, done); task; task = nextTask(state, now, done)) {
    const { feed, window } = task;
    const page = { cursor: null, more: false, records: 10 };
    const everyMinutes = connector.feeds[feed]?.everyMinutes ?? 0;
    state.feeds[feed] = afterPage(state.feeds[feed], task, page, { now, everyMinutes });
    if (!window) done.add(feed);
    pulled.push(window ? `${feed} ${new Date(window.from).toISOString().slice(0, 10)}` : feed);
    if (pulled.length > 100) throw new Error('never ends');
  }
  return pulled;
}

describe('what a connection pulls next', () => {
  it('begins with what others refer to', () => {
    expect(work(planned(), connectedAt)).toEqual(['vehicles', 'drivers', 'events', 'trips']);
  });

  it.each<[number, FeedName[]]>([
    [1, ['events']],
    [4, ['events']],
    [5, ['events', 'trips']],
    [15, ['events', 'trips', 'vehicles', 'drivers']],
  ])('after %i minutes', (minutes, expected) => {
    expect(work(planned(caughtUp(connectedAt + 20_000)), connectedAt + minutes * minuteMs)).toEqual(
      expected,
    );
  });

  it('everything at once, after a clock that was ahead by a day', () => {
    const ahead = planned(caughtUp(connectedAt + dayMs));
    expect(work(ahead, connectedAt + minuteMs)).toHaveLength(feedNames.length);
  });

  it('and reads the whole of each list then, since changes may have been missed', async () => {
    const begun: unknown[] = [];
    const list = inPasses<null>({
      everyMinutes: 1,
      overlapMs: minuteMs,
      read: async (_, { from, isWhole }) => {
        begun.push({ isAhead: from > Date.now(), isWhole });
        return { records: [], next: undefined };
      },
    });
    const ahead = Date.now() + dayMs;
    const { cursor } = await list.changes(null, { from: ahead, wholeAt: ahead, pass: null }, 0);
    await list.changes(null, cursor, 0);
    expect(begun).toEqual([
      { isAhead: false, isWhole: true },
      { isAhead: false, isWhole: false },
    ]);
  });

  it('loads the history last, the newest first, each window once', () => {
    const state = planned(caughtUp(connectedAt), 20);
    expect(work(state, connectedAt + minuteMs)).toEqual([
      'events',
      'events 2026-11-13',
      'events 2026-11-06',
      'events 2026-10-31',
      'trips 2026-10-31',
    ]);
    expect(historyProgress(state, 'events', connectedAt + minuteMs)).toMatchObject({
      share: 1,
      records: 30,
    });
  });
});

describe('what goes wrong', () => {
  const problem = (kind: ProviderErrorKind, retryAfterMs?: number) =>
    new ProviderError(kind, 'returns 503', retryAfterMs);

  it('keeps a feed waiting, longer each time, and no other', () => {
    let events: Feeds['events'] = complete;
    const waits = [1, 2, 3, 4, 5, 6].map(() => {
      events = afterProblem(events, problem('unavailable'), connectedAt);
      return ((events.problem?.until ?? 0) - connectedAt) / minuteMs;
    });
    expect(waits).toEqual([1, 2, 4, 8, 15, 15]);
    const state = planned({ ...caughtUp(connectedAt), events });
    expect(work(state, connectedAt + 5 * minuteMs)).toEqual(['trips']);
    expect(work(state, connectedAt + 15 * minuteMs)).toContain('events');
  });

  it('begins what was being read again when the provider refuses its place', () => {
    const history = { to: 3, cursor: 'h', records: 1, beganAt: 1 };
    const pass = { beganAt: 9, isWhole: false, place: 'p' };
    const state = { cursor: { from: 5, wholeAt: 4, pass, kept: ['crash'] }, history };
    const restart = motive.feeds.events?.restart;
    expect(startAgain(state, { feed: 'events' }, restart)).toEqual({
      cursor: { from: 5, wholeAt: 4, pass: null, kept: ['crash'] },
      history,
    });
    expect(startAgain(state, { feed: 'events', window: { from: 2, to: 3 } }, restart)).toEqual({
      ...state,
      history: { ...history, cursor: null },
    });
  });

  it('of its history keeps nothing else of a feed waiting, and is not forgotten meanwhile', () => {
    const over = { to: 0, cursor: null, records: 0, beganAt: 0 };
    const state = planned({ ...caughtUp(connectedAt), trips: { ...complete, history: over } }, 20);
    const tried: number[] = [];
    for (let minute = 0; minute < 8; minute++) {
      const now = connectedAt + minute * minuteMs + 5_000;
      const due = nextTask(state, now, new Set(['vehicles', 'drivers', 'trips']));
      expect(due).toEqual({ feed: 'events' });
      const page = { cursor: null, more: false, records: 0 };
      const after = afterPage(state.feeds.events, { feed: 'events' }, page, {
        now,
        everyMinutes: 1,
      });
      const isTried = nextTask({ ...state, feeds: { ...state.feeds, events: after } }, now, all);
      if (isTried) tried.push(minute);
      state.feeds.events = isTried ? afterProblem(after, problem('unexpected'), now, true) : after;
      expect(nextDueAt(state, now)).toBe(connectedAt + (minute + 1) * minuteMs);
    }
    expect(tried).toEqual([0, 1, 3, 7]);
    expect(state.feeds.events?.problem?.since).toBe(connectedAt + 5_000);
    expect(work(state, connectedAt + 15 * minuteMs)).toContain('events 2026-11-13');
    expect(state.feeds.events?.problem).toBeUndefined();
  });

  it('for a moment is over by the next minute', () => {
    const { problem: known } = afterProblem(complete, problem('unavailable'), connectedAt + 5_000);
    expect(known?.until).toBe(connectedAt + minuteMs);
  });

  it('keeps a feed waiting no longer because a part was missing for long', () => {
    let events: Feeds['events'] = complete;
    for (let i = 0; i < 9; i++)
      events = afterPart(complete, events, problem('not permitted'), connectedAt);
    events = afterProblem(events, problem('unavailable'), connectedAt);
    expect(events.problem?.until).toBe(connectedAt + minuteMs);
  });

  it.each<[string, number, number]>([
    ['an hour at most', dayMs, 60],
    ['and as if it had said nothing when that is absurd', dayMs + 1, 1],
  ])('waits as long as the provider says, %s', (_, says, minutes) => {
    const after = afterProblem(complete, problem('unavailable', says), connectedAt);
    expect(after.problem?.until).toBe(connectedAt + minutes * minuteMs);
  });
});

it('is due each minute, at once while there is history, and never in the past for long', () => {
  expect(nextDueAt(planned(caughtUp(connectedAt)), connectedAt + 30_000)).toBe(
    connectedAt + minuteMs,
  );
  expect(nextDueAt(planned(caughtUp(connectedAt), 20), connectedAt)).toBe(connectedAt);
  const failed = afterProblem(complete, new ProviderError('unavailable', ''), connectedAt);
  expect(nextDueAt(planned(allAre(failed), 20), connectedAt)).toBe(connectedAt + minuteMs);
});

describe('how a connection is doing', () => {
  const now = connectedAt + 3 * dayMs;
  const failing = (forMs: number, kind: ProviderErrorKind = 'unavailable') => ({
    ...complete,
    problem: { kind, message: 'returns 503', since: now - forMs, times: 3, until: now },
  });

  type When = Parameters<typeof healthOf>[1];
  it.each<[string, Feeds, Partial<When>, number]>([
    ['healthy while something has failed for moments', allAre(failing(lateMs - 1)), {}, 1],
    ['late once nothing has come for five minutes', allAre(failing(lateMs + 1)), {}, 2],
    ['late when nothing comes though nothing fails', {}, { succeededAt: now - 3 * lateMs - 1 }, 2],
    ['degraded while some feeds fail', { trips: failing(lateMs + 1) }, {}, 4],
    ['degraded if it may not read one', { trips: failing(0, 'not permitted') }, {}, 4],
    ['unavailable after a day', {}, { succeededAt: now - silentMs - 1 }, 3],
    ['unavailable once the credential is refused', {}, { refusedAt: now }, 3],
  ])('%s', (_, feeds, more, status) => {
    const well = { refusedAt: null, succeededAt: now - minuteMs, now };
    expect(healthOf(planned(feeds), { ...well, ...more })).toBe(status);
  });
});
