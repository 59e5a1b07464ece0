import { hourMs } from '../../platform/durations.ts';

/** The kinds of alerts: a receiver was paused, deliveries failed for good, a receiver works again. */
export type AlertKind = 'paused' | 'failed' | 'working';

/** How long a receiver must be paused before people are alerted. */
export const pausedAfterMs = 15 * 60_000;

/** How long after an alert of a kind about a webhook the next one of that kind is sent. */
export const quietMs = hourMs;

/** What there is to report about a webhook, and what was reported. Times are milliseconds since 1970. */
export type AlertState = {
  /** The last pause of its receiver, null if there was none; `pausedTo` is null while it lasts. */
  pausedFrom: number | null;
  pausedTo: number | null;
  /** Deliveries that failed since the last alert about failures, and since when. */
  failed: number;
  failedFrom: number | null;
  /** When people were last alerted, by kind. */
  pausedNotifiedAt: number | null;
  failedNotifiedAt: number | null;
  workingNotifiedAt: number | null;
};

/** Decides which alerts to send now, and when the next one may be due; null if none is. */
export function decide(state: AlertState, now: number): { kinds: AlertKind[]; nextAt: number | null } {
  const kinds = dueTimes(state)
    .filter(({ at }) => at <= now)
    .map(({ kind }) => kind);
  const notified = Object.fromEntries(kinds.map((kind) => [`${kind}NotifiedAt`, now]));
  const failed = kinds.includes('failed') ? 0 : state.failed;
  const later = dueTimes({ ...state, ...notified, failed });
  return { kinds, nextAt: later.length > 0 ? Math.min(...later.map(({ at }) => at)) : null };
}

/** When each kind of alert is due. */
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
