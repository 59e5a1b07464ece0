import type { HealthStatus } from '../../core/platform/db/schema/types.ts';
import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import {
  type Connector,
  type FeedName,
  feedNames,
  type Json,
  longestWaitMs,
  type ProviderError,
  type ProviderErrorKind,
  type Window,
} from './connector/connector.ts';

/** The progress of a feed. Times are milliseconds since 1970. */
export type FeedState = {
  cursor: Json;
  /** Whether it has ever caught up. */
  isComplete?: true;
  /** When it last caught up, for feeds that are pulled less often than each minute. */
  pulledAt?: number;
  /** Its problem, since when and how often; the feed waits until `until`. */
  problem?: {
    kind: ProviderErrorKind;
    message: string;
    since: number;
    times: number;
    until: number;
    /** Whether only a part cannot be read: it is a problem until all could be. */
    isOfPart?: true;
    /** Whether only history cannot be read: nothing else of the feed waits. */
    isOfHistory?: true;
  };
  /** History before `to` is still to be read; `cursor` is within the window that ends there. */
  history?: { to: number; cursor: Json; records: number; beganAt: number };
  /** While it has a backlog: how many pages were read since the newest records were. */
  behind?: number;
  /** While the newest records are read in between. */
  newest?: { window: Window; cursor: Json };
};

export type Feeds = { [name in FeedName]?: FeedState };

/** The next page to read: changes of a feed, a window of its history, or the `newest`. */
export type Task = { feed: FeedName; window?: Window; isNewest?: true };

/** The part of a connection that planning needs. */
export type Planned = {
  connector: Pick<Connector<never>, 'feeds'>;
  feeds: Feeds;
  connectedAt: number;
  historyDays: number;
};

const longestGrowingMs = 15 * minuteMs;

/** How many pages of a backlog are read before the newest events are, so that a crash does not wait. */
const backlogPages = 5;
const newestMs = 10 * minuteMs;

/** At first, records come after those they refer to; later, urgent ones come first. */
const order: FeedName[] = ['events', 'trips', 'vehicles', 'drivers'];

/** The next page to pull, if any is due, except of feeds that are `done`. History comes last. */
export function nextTask(
  planned: Planned,
  now: number,
  done: ReadonlySet<FeedName>,
): Task | undefined {
  const { connector, feeds } = planned;
  const ready = (name: FeedName, isHistory = false) =>
    connector.feeds[name] && waitsUntil(planned, name, isHistory) <= now;
  const first = (['vehicles', 'drivers'] as const).filter((name) => !feeds[name]?.isComplete);
  const due = [...first, ...order].find(
    (name) => ready(name) && !done.has(name) && dueAtOf(planned, name, now) <= now,
  );
  if (due) return newestOf(planned, due, now) ?? { feed: due };
  const feed = order.find((name) => ready(name, true) && remainingHistory(planned, name) > 0);
  return feed && { feed, window: nextWindow(planned, feed) };
}

/** Until when a feed waits after a problem, or its history. */
function waitsUntil({ feeds }: Planned, name: FeedName, isHistory = false): number {
  const problem = feeds[name]?.problem;
  return problem && (isHistory || !problem.isOfHistory) ? problem.until : 0;
}

/** The newest records of a feed with a backlog, if they are due. */
function newestOf(
  { connector, feeds, connectedAt }: Planned,
  feed: FeedName,
  now: number,
): Task | undefined {
  const { behind = 0, newest } = feeds[feed] ?? {};
  if (newest) return { feed, window: newest.window, isNewest: true };
  if (feed !== 'events' || behind < backlogPages || !connector.feeds[feed]?.history?.isExact)
    return undefined;
  return { feed, window: { from: Math.max(connectedAt, now - newestMs), to: now }, isNewest: true };
}

/** When the connection is due next; `now` if there is more to do. */
export function nextDueAt(planned: Planned, now: number): number {
  const times = namesOf(planned).map((name) => {
    const news = Math.max(nextPullOf(planned, name, now), waitsUntil(planned, name));
    const history = Math.max(now, waitsUntil(planned, name, true));
    return remainingHistory(planned, name) > 0 ? Math.min(news, history) : news;
  });
  return Math.min(...times, now + longestWaitMs);
}

/** The next full minute, when the cron job runs. */
export const nextMinute = (now: number): number => (Math.floor(now / minuteMs) + 1) * minuteMs;

const namesOf = ({ connector }: Planned): FeedName[] =>
  feedNames.filter((name) => connector.feeds[name]);

const everyMs = ({ connector }: Planned, name: FeedName): number =>
  (connector.feeds[name]?.everyMinutes ?? 1) * minuteMs;

/** In full minutes, so that a pull of some seconds does not delay the next one by a minute; at once after a clock that was ahead. */
const dueAtOf = (planned: Planned, name: FeedName, now: number): number => {
  const pulledAt = planned.feeds[name]?.pulledAt;
  if (pulledAt === undefined || pulledAt > now) return now;
  return Math.floor(pulledAt / minuteMs) * minuteMs + everyMs(planned, name);
};

function nextPullOf(planned: Planned, name: FeedName, now: number): number {
  const state = planned.feeds[name];
  if (!state?.isComplete || state.behind !== undefined) return now;
  return state.pulledAt === undefined ? nextMinute(now) : dueAtOf(planned, name, now);
}

/** How much of a feed's history is left, in milliseconds. */
function remainingHistory(
  { connector, feeds, connectedAt, historyDays }: Planned,
  name: FeedName,
): number {
  if (!connector.feeds[name]?.history) return 0;
  const to = feeds[name]?.history?.to ?? connectedAt;
  return Math.max(0, to - (connectedAt - historyDays * dayMs));
}

function nextWindow(planned: Planned, name: FeedName): Window {
  const to = planned.feeds[name]?.history?.to ?? planned.connectedAt;
  const days = planned.connector.feeds[name]?.history?.windowDays ?? 1;
  return { from: to - Math.min(remainingHistory(planned, name), days * dayMs), to };
}

/** A feed after a page was stored. */
export function afterPage(
  state: FeedState | undefined,
  { window, isNewest }: Task,
  { cursor, more, records }: { cursor: Json; more: boolean; records: number },
  { now, everyMinutes }: { now: number; everyMinutes: number },
): FeedState {
  const { problem, behind = 0, newest: _newest, ...others } = state ?? { cursor: null };
  const isKept = problem?.isOfHistory ? !window || isNewest : problem?.isOfPart && (more || window);
  const rest = problem && isKept ? { ...others, problem } : others;
  if (window && isNewest)
    return more ? { ...rest, behind, newest: { window, cursor } } : { ...rest, behind: 0 };
  if (window) {
    const before = rest.history ?? { to: window.to, cursor: null, records: 0, beganAt: now };
    const position = more ? { to: before.to, cursor } : { to: window.from, cursor: null };
    return { ...rest, history: { ...before, ...position, records: before.records + records } };
  }
  if (more) return { ...rest, cursor, behind: behind + 1 };
  return { ...rest, cursor, isComplete: true, ...(everyMinutes > 1 && { pulledAt: now }) };
}

/** A feed after a page in which a part is missing. */
export function afterPart(
  next: FeedState,
  before: FeedState | undefined,
  problem: ProviderError,
  now: number,
): FeedState {
  const { problem: known } = afterProblem(before, problem, now);
  return known ? { ...next, problem: { ...known, times: 0, until: now, isOfPart: true } } : next;
}

/**
 * A feed after a problem: it waits in full minutes, longer each time, and the newest records come later. Only its
 * history waits if the problem `isOfHistory`.
 */
export function afterProblem(
  state: FeedState | undefined,
  { kind, message, retryAfterMs }: Pick<ProviderError, 'kind' | 'message' | 'retryAfterMs'>,
  now: number,
  isOfHistory = false,
): FeedState {
  const before = state?.problem;
  const isSame = (before?.isOfHistory ?? false) === isOfHistory;
  const times = ((isSame && before?.times) || 0) + 1;
  const since = before?.since ?? now;
  const needsPeople = kind === 'not permitted' || kind === 'refused';
  const growing = Math.min(longestGrowingMs, minuteMs * 2 ** (times - 1));
  const soonest = nextMinute(now) - minuteMs + (needsPeople ? longestWaitMs : growing);
  const until = Math.max(soonest, now + (retryAfterMs ?? 0));
  const { newest: _, behind, ...rest } = state ?? { cursor: null };
  return {
    ...rest,
    ...(behind !== undefined && { behind: 0 }),
    problem: { kind, message, since, times, until, ...(isOfHistory && { isOfHistory }) },
  };
}

/** A feed whose provider refuses its cursor: it starts again. */
export function startAgain(
  state: FeedState,
  { window }: Task,
  restart: ((cursor: Json) => Json) | undefined,
): FeedState {
  const { history, cursor } = state;
  if (window) return history ? { ...state, history: { ...history, cursor: null } } : state;
  return restart && cursor !== null ? { ...state, cursor: restart(cursor) } : state;
}

/** How much of a feed's history was loaded, how fast, and when it ends. */
export function historyProgress(planned: Planned, name: FeedName, now: number) {
  if (!planned.connector.feeds[name]?.history) return undefined;
  const all = planned.historyDays * dayMs;
  const remaining = remainingHistory(planned, name);
  const { records = 0, beganAt = now } = planned.feeds[name]?.history ?? {};
  const share = all === 0 ? 1 : 1 - remaining / all;
  const tookMs = now - beganAt;
  return {
    share,
    records,
    recordsPerMinute:
      tookMs > 0 && remaining > 0 ? Math.round((records * minuteMs) / tookMs) : null,
    endsAt: remaining > 0 && share > 0 ? now + Math.round((tookMs / share) * (1 - share)) : null,
  };
}

/** A feed that has failed for this long is late. */
export const lateMs = 5 * 60_000;

/** A feed without a success for this long is late. */
const lateAfterMs = 3 * lateMs;

/** A connection without a success for this long is unavailable. */
export const silentMs = dayMs;

/** Unavailable when refused or nothing came for a day; otherwise degraded, or a warning. */
export function healthOf(
  planned: Planned,
  {
    refusedAt,
    succeededAt,
    now,
  }: { refusedAt: number | null; succeededAt: number | null; now: number },
): HealthStatus {
  if (refusedAt !== null) return 3;
  const quietFor = now - (succeededAt ?? planned.connectedAt);
  if (quietFor > silentMs) return 3;
  const names = feedNames.filter((name) => planned.connector.feeds[name]);
  const failing = names.filter((name) => isFailing(planned, name, now));
  if (failing.length === 0) return quietFor > lateAfterMs ? 2 : 1;
  return failing.length === names.length ? 2 : 4;
}

/** Whether a feed has failed for so long that people should know. */
export function isFailing({ feeds }: Planned, name: FeedName, now: number): boolean {
  const problem = feeds[name]?.problem;
  return (
    problem !== undefined && (problem.kind === 'not permitted' || now - problem.since > lateMs)
  );
}
