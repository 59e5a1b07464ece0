import { hourMs } from '../../platform/durations.ts';

/** What an email can be about: a receiver has been paused, deliveries have failed for good, a receiver works again. */
export type AlertKind = 'paused' | 'failed' | 'working';

/** How long a receiver has been paused before anybody is notified. */
export const pausedAfterMs = 15 * 60_000;

/** For how long after an email of a kind about a webhook no other of that kind is sent about it. */
export const quietMs = hourMs;

/** What there is to notify about a webhook, and what people have been notified of. Times are milliseconds since 1970. */
export type AlertState = {
  /** The last pause of its receiver, null if there was none; `pausedTo` is null while it lasts. */
  pausedFrom: number | null;
  pausedTo: number | null;
  /** Deliveries that failed since people were last notified of such, and since when. */
  failed: number;
  failedFrom: number | null;
  /** When people were last notified of each kind. */
  pausedNotifiedAt: number | null;
  failedNotifiedAt: number | null;
  workingNotifiedAt: number | null;
};

/** Decides what to notify people of now, and when there may be more next; null if there is nothing so far. */
export function decide(state: AlertState, now: number): { kinds: AlertKind[]; nextAt: number | null } {
  const kinds = dueTimes(state)
    .filter(({ at }) => at <= now)
    .map(({ kind }) => kind);
  const notified = Object.assign({ ...state }, ...kinds.map((kind) => notifiedOf[kind](now)));
  const later = dueTimes(notified);
  return { kinds, nextAt: later.length > 0 ? Math.min(...later.map(({ at }) => at)) : null };
}

/** When each kind of thing may be notified. */
function dueTimes(state: AlertState): { kind: AlertKind; at: number }[] {
  const { pausedFrom, pausedTo, failed, failedFrom } = state;
  const knownPaused = (state.pausedNotifiedAt ?? 0) > (state.workingNotifiedAt ?? 0);
  const times: { kind: AlertKind; at: number }[] = [];
  const due = (kind: AlertKind, since: number, notifiedAt: number | null) =>
    times.push({ kind, at: notifiedAt === null ? since : Math.max(since, notifiedAt + quietMs) });
  if (pausedFrom !== null && pausedTo === null && !knownPaused)
    due('paused', pausedFrom + pausedAfterMs, state.pausedNotifiedAt);
  if (pausedTo !== null && knownPaused) due('working', pausedTo, state.workingNotifiedAt);
  if (failed > 0) due('failed', failedFrom ?? 0, state.failedNotifiedAt);
  return times;
}

/** What notifying of a kind at `now` changes. */
const notifiedOf: Record<AlertKind, (now: number) => Partial<AlertState>> = {
  paused: (now) => ({ pausedNotifiedAt: now }),
  working: (now) => ({ workingNotifiedAt: now }),
  failed: (now) => ({ failedNotifiedAt: now, failed: 0 }),
};
