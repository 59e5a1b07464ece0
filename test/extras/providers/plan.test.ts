import {
  type FeedName,
  ProviderError,
  type ProviderErrorKind,
} from '#src/extras/providers/connector/connector.ts';
import { inPasses } from '#src/extras/providers/connector/passes.ts';
import {
  afterPage,
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

const minute = 60_000;
const day = 86_400_000;
const connectedAt = Date.UTC(2026, 10, 20, 12, 0, 0);
const never = () => Promise.reject(new Error('planning calls nobody'));
const feed = (everyMinutes: number, windowDays?: number) => ({
  everyMinutes,
  changes: never,
  ...(windowDays !== undefined && { history: { windowDays, isExact: true as const, page: never } }),
});
const connector = {
  feeds: { vehicles: feed(15), drivers: feed(15), trips: feed(5, 30), events: feed(1, 7) },
};
const planned = (feeds: Feeds = {}, historyDays = 0): Planned => ({
  connector,
  feeds,
  connectedAt,
  historyDays,
});

const complete = (pulledAt?: number) => ({
  cursor: null,
  isComplete: true as const,
  ...(pulledAt !== undefined && { pulledAt }),
});
const caughtUp = (at: number): Feeds => ({
  vehicles: complete(at),
  drivers: complete(at),
  trips: complete(at),
  events: complete(),
});

/** Works through all that is due at a time, one page each. Returns the feeds, a window's with its first day. */
function work(state: Planned, now: number): string[] {
  const done = new Set<FeedName>();
  const pulled: string[] = [];
  for (let task = nextTask(state, now, done); task; task = nextTask(state, now, done)) {
    const page = { cursor: null, more: false, records: 10 };
    const everyMinutes = connector.feeds[task.feed].everyMinutes;
    state.feeds[task.feed] = afterPage(state.feeds[task.feed], task, page, { now, everyMinutes });
    if (!task.window) done.add(task.feed);
    pulled.push(
      task.window
        ? `${task.feed} ${new Date(task.window.from).toISOString().slice(0, 10)}`
        : task.feed,
    );
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
    expect(work(planned(caughtUp(connectedAt + 20_000)), connectedAt + minutes * minute)).toEqual(
      expected,
    );
  });

  it('everything at once, after a clock that was ahead by a day', () => {
    expect(work(planned(caughtUp(connectedAt + 1440 * minute)), connectedAt + minute)).toEqual([
      ...['events', 'trips', 'vehicles', 'drivers'],
    ]);
  });

  it('and reads the whole of each list then, since changes may have been missed', async () => {
    const begun: unknown[] = [];
    const list = inPasses<null>({
      ...{ everyMinutes: 1, overlapMs: minute },
      read: async (_, { from, isWhole }) => {
        begun.push({ isAhead: from > Date.now(), isWhole });
        return { records: [], next: undefined };
      },
    });
    const ahead = Date.now() + 1440 * minute;
    const { cursor } = await list.changes(null, { from: ahead, wholeAt: ahead, pass: null }, 0);
    await list.changes(null, cursor, 0);
    expect(begun).toEqual([
      { isAhead: false, isWhole: true },
      { isAhead: false, isWhole: false },
    ]);
  });

  it('loads the history last, the newest first, each window once', () => {
    const state = planned(caughtUp(connectedAt), 20);
    expect(work(state, connectedAt + minute)).toEqual([
      'events',
      'events 2026-11-13',
      'events 2026-11-06',
      'events 2026-10-31',
      'trips 2026-10-31',
    ]);
    expect(historyProgress(state, 'events', connectedAt + minute)).toMatchObject({
      share: 1,
      records: 30,
    });
  });
});

describe('what goes wrong', () => {
  const problem = (kind: ProviderErrorKind, retryAfterMs?: number) =>
    new ProviderError(kind, 'returns 503', retryAfterMs);

  it('keeps a feed waiting, longer each time, and no other', () => {
    const waits = [1, 2, 3, 4, 5, 6].reduce<{ ms: number[]; state: Feeds['events'] }>(
      ({ ms, state }) => {
        const next = afterProblem(state, problem('unavailable'), connectedAt);
        return { ms: [...ms, (next.problem?.until ?? 0) - connectedAt], state: next };
      },
      { ms: [], state: complete() },
    );
    expect(waits.ms.map((ms) => ms / minute)).toEqual([1, 2, 4, 8, 15, 15]);
    const state = planned({
      ...caughtUp(connectedAt),
      ...(waits.state && { events: waits.state }),
    });
    expect(work(state, connectedAt + 5 * minute)).toEqual(['trips']);
    expect(work(state, connectedAt + 15 * minute)).toContain('events');
  });

  it('begins what was being read again when the provider refuses its place', () => {
    const history = { to: 3, cursor: 'h', records: 1, beganAt: 1 };
    const pass = { beganAt: 9, isWhole: false, place: 'p' };
    const state = { cursor: { from: 5, wholeAt: 4, pass, kept: ['crash'] }, history };
    const { restart } = inPasses<never, string[]>({ everyMinutes: 1, overlapMs: 1, read: never });
    expect(startAgain(state, { feed: 'events' }, restart)).toEqual({
      cursor: { from: 5, wholeAt: 4, pass: null, kept: ['crash'] },
      history,
    });
    expect(startAgain(state, { feed: 'events', window: { from: 2, to: 3 } }, restart)).toEqual({
      ...state,
      history: { ...history, cursor: null },
    });
  });

  it.each<[string, number, number]>([
    ['an hour at most', day, 60],
    ['and as if it had said nothing when that is absurd', day + 1, 1],
  ])('waits as long as the provider says, %s', (_, says, minutes) => {
    const { until } =
      afterProblem(complete(), problem('unavailable', says), connectedAt).problem ?? {};
    expect(until).toBe(connectedAt + minutes * minute);
  });
});

it('is due each minute, at once while there is history, and never in the past for long', () => {
  expect(nextDueAt(planned(caughtUp(connectedAt)), connectedAt + 30_000)).toBe(
    connectedAt + minute,
  );
  expect(nextDueAt(planned(caughtUp(connectedAt), 20), connectedAt)).toBe(connectedAt);
  const failed = afterProblem(
    complete(),
    new ProviderError('unavailable', 'returns 503'),
    connectedAt,
  );
  const all = { vehicles: failed, drivers: failed, trips: failed, events: failed };
  expect(nextDueAt(planned(all, 20), connectedAt)).toBe(connectedAt + minute);
});

describe('how a connection is doing', () => {
  const now = connectedAt + 3 * day;
  const well = { refusedAt: null, succeededAt: now - minute, now };
  const failing = (since: number, kind: ProviderErrorKind = 'unavailable') => ({
    ...complete(),
    problem: { kind, message: 'returns 503', since, times: 3, until: now },
  });
  const all = (state: Feeds['events'] & object): Feeds => ({
    vehicles: state,
    drivers: state,
    trips: state,
    events: state,
  });

  type When = Parameters<typeof healthOf>[1];
  it.each<[string, Feeds, Partial<When>, number]>([
    ['healthy while something has failed for moments', all(failing(now - lateMs + 1)), {}, 1],
    ['late once nothing has come for five minutes', all(failing(now - lateMs - 1)), {}, 2],
    [
      'late when nothing comes though nothing fails',
      caughtUp(now),
      { succeededAt: now - 3 * lateMs - 1 },
      2,
    ],
    [
      'degraded while some feeds fail',
      { ...caughtUp(now), trips: failing(now - lateMs - 1) },
      {},
      4,
    ],
    [
      'degraded if it may not read one',
      { ...caughtUp(now), trips: failing(now, 'not permitted') },
      {},
      4,
    ],
    [
      'unavailable after a day',
      all(failing(now - silentMs)),
      { succeededAt: now - silentMs - 1 },
      3,
    ],
    ['unavailable once the credential is refused', caughtUp(now), { refusedAt: now }, 3],
  ])('%s', (_, feeds, more, status) => {
    expect(healthOf(planned(feeds), { ...well, ...more })).toBe(status);
  });
});
