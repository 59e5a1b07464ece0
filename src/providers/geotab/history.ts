import { minuteMs } from '../../platform/durations.ts';
import type { Json, Page, Window } from '../connector.ts';
import { iso } from '../read.ts';
import { beganAt } from './events.ts';
import { listOf } from './lists.ts';
import { recordsOf, seenIn } from './pending.ts';
import { lookUp } from './places.ts';
import { type Api, rpcAll } from './rpc.ts';
import { currentRules, type Rules, rulesTaken } from './rules.ts';

/** The progress of a window of history: what began before `to` is left, `span` at a time. */
type Progress = { rules: Rules; to: number; span: number };

const firstSpanMs = 6 * 60 * minuteMs;

/** The most exceptions of a rule per request. */
const perRule = 2_000;

/** With more exceptions a span is too long, because each needs a look-up; with fewer than the second, too short. */
const many = 100;
const few = 25;

/**
 * A page of history: the exceptions that began in a time span, newest first. `Get` has no cursor and truncates lists
 * silently: when it may have, the span is halved. It returns what overlaps a span, so only what began in it is used.
 */
export async function historyPage(api: Api, window: Window, cursor: Json): Promise<Page> {
  const place = (cursor as Progress | null) ?? {
    rules: await currentRules(api, undefined),
    to: window.to,
    span: firstSpanMs,
  };
  const { rules, to, span } = place;
  const now = Date.now();
  const from = Math.max(window.from, to - span);
  const lists = await exceptionsIn(api, rulesTaken(api, rules), from, to);
  const seen = lists
    .flat()
    .filter((item) => !(beganAt(item) < from || beganAt(item) >= to))
    .flatMap((item) => seenIn(api, rules, item, { since: now }) ?? []);
  const isCut = lists.some((list) => list.length >= perRule);
  if ((isCut || seen.length > many) && to - from > minuteMs)
    return { records: [], next: { ...place, span: Math.ceil((to - from) / 2) } };
  // For old ones, waiting brings no better place.
  const asks = seen.map(({ item }) => ({ item, wide: true }));
  const { records, vehicles } = recordsOf(seen, await lookUp(api, asks), now);
  return {
    records,
    vehicles,
    next: from > window.from ? { rules, to: from, span: seen.length < few ? span * 4 : span } : undefined,
  };
}

/** The exceptions of each rule between two times. */
async function exceptionsIn(api: Api, rules: string[], from: number, to: number): Promise<unknown[][]> {
  const dates = { fromDate: iso(from), toDate: iso(to) };
  const calls = rules.map((id) => ({
    method: 'Get',
    params: {
      typeName: 'ExceptionEvent',
      search: { ...dates, ruleSearch: { id } },
      resultsLimit: perRule,
    },
  }));
  return (await rpcAll(api, calls)).map(listOf);
}
