import { minuteMs } from '#src/core/platform/durations.ts';
import { maxAttemptsOf } from '#src/core/webhooks/deliveries/policy.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import type { Invocation, Kernel } from './kernel.ts';

/** How long a receiver takes at most that is slow, and responds all the same. */
const slowestMs = 14_000;

/** What a webhook asks for; null once it is deleted. Times are when the change was asked for, and when it was confirmed. */
export type Config = { types: number[]; connectionIds: string[] } | null;

type Change = { sent: number; done: number; config: Config };

export type Mood = 'up' | 'slow' | 'down' | 'gone' | 'hangs';

export type Hook = {
  account: Account;
  id?: string;
  url: string;
  mood: Mood;
  changes: Change[];
  silences: Silence[];
  isBusy: boolean;
  calledAt: number;
};

/** While none of its calls may start: from when that was confirmed, until it is asked for again. */
export type Silence = {
  reason: 'deleted' | 'suspended' | 'paused' | 'disconnected';
  done: number;
  ended: number;
};

/** What customers are to be notified of; `accepted` is when the connector knew that it was taken in. */
export type News = {
  eventId: string;
  level: number;
  type: number;
  connectionId: string;
  at: number;
  sent: number;
  accepted: number;
  /** What receivers got of it: always the same, whatever has changed since. */
  data?: string;
};

export type Connection = { id: string; provider: string; key: string };

/** A record of a list, and when the connector knew that it was taken in. */
export type Listed = { path: string; connectionId: string; accepted: number };

export type Account = {
  id: string;
  name: string;
  token: { id: string; value: string };
  connections: Connection[];
  /** Those that have been deleted, by id. */
  disconnected: Map<string, Silence>;
  hooks: Hook[];
  news: Map<string, News>;
  records: Map<string, Listed>;
  silences: Silence[];
  /** It is being moved, suspended or deleted, one at a time. */
  isBusy: boolean;
  gone: boolean;
  follower: Follower;
};

/** Somebody who follows the changes of an account, with a copy of its records. */
export type Follower = { cursor: string | undefined; copy: Map<string, unknown> };

type Got = { id: string; hook: Hook; news: News; by: Invocation; running: boolean; heard?: number };

export type Delivery = {
  eventId: string;
  level: number | null;
  status: string;
  attempts: number;
  id: string;
};

export const keyOf = (eventId: unknown, level: unknown): string => `${eventId} ${level}`;

/** What a webhook may have asked for at some time between these. */
const configsBetween = ({ changes }: Hook, from: number, to: number): Config[] => [
  changes.findLast(({ done }) => done < from)?.config ?? null,
  ...changes.filter(({ sent, done }) => sent <= to && done >= from).map(({ config }) => config),
];
const subscribes = (config: Config, { type, connectionId }: News): boolean =>
  (config?.types.includes(type) && config.connectionIds.includes(connectionId)) ?? false;

/** Whether a webhook is to be notified: 'maybe' while its changes and the call that brought the news were under way at once. */
export function isFor(hook: Hook, news: News): 'must' | 'maybe' | 'never' {
  const matching = configsBetween(hook, news.sent, news.accepted).map((config) =>
    subscribes(config, news),
  );
  if (matching.every((one) => !one)) return 'never';
  return matching.every(Boolean) && news.accepted < Infinity ? 'must' : 'maybe';
}

/** What receivers got, and what is wrong with it. */
export function receivers(
  { now, note, below, sleep, current, through, mostSkew }: Kernel,
  accounts: Account[],
) {
  const calls = new Map<string, Got[]>();
  const arrived = (url: string, init: RequestInit): Got => {
    const id = new Headers(init.headers).get('delivery-id') ?? '';
    const by = current();
    note(`${id} is sent to ${url} by ${by?.name}`);
    const hook = accounts.flatMap(({ hooks }) => hooks).find((one) => one.url === url);
    const { data } = JSON.parse(String(init.body));
    const news = hook?.account.news.get(keyOf(data.eventId, data.notificationLevel ?? 0));
    if (!hook || !news || !by)
      throw new Violation(`a call that nobody asked for: ${url} ${init.body}`);
    news.data ??= JSON.stringify(data);
    if (news.data !== JSON.stringify(data))
      throw new Violation(`of ${news.eventId}, ${init.body} is sent after ${news.data}`);
    const earlier = calls.get(id) ?? [];
    hook.calledAt = now();
    const { account } = hook;
    const disconnected = account.disconnected.get(news.connectionId) ?? [];
    for (const { reason, done, ended } of [hook.silences, account.silences, disconnected].flat())
      if (done + mostSkew <= now() && now() < ended)
        throw new Violation(`delivery ${id} was sent, though ${reason}`);
    const isWanted = configsBetween(hook, now() - mostSkew, now()).some((config) =>
      subscribes(config, news),
    );
    if (!isWanted || isFor(hook, news) === 'never')
      throw new Violation(`delivery ${id} was not subscribed to`);
    if (earlier.some(({ running, by }) => running && !by.over))
      throw new Violation(`two calls at a time for delivery ${id}`);
    const done = earlier.findLast(({ heard }) => heard !== undefined && isFinal(heard));
    if (done && !done.by.disturbed)
      throw new Violation(
        `delivery ${id} was sent again, though ${done.by.name} got ${done.heard}`,
      );
    const others = [...calls.values()].find(
      ([one]) => one?.hook === hook && one.news === news && one.id !== id,
    );
    if (others)
      throw new Violation(
        `${keyOf(news.eventId, news.level)} has two deliveries, ${id} and ${others[0]?.id}`,
      );
    if (earlier.length === 0) checkOrder(hook, news, id);
    const got: Got = { id, hook, news, by, running: true };
    calls.set(id, [...earlier, got]);
    return got;
  };
  /** Whether an earlier level is still being tried, and could be waited for. */
  const checkOrder = (hook: Hook, news: News, id: string) => {
    for (let level = 1; level < news.level; level++) {
      const lower = hook.account.news.get(keyOf(news.eventId, level));
      if (!lower || isFor(hook, lower) !== 'must') continue;
      // It was cancelled while it was not wanted, or while the account waited to be deleted.
      if (!configsBetween(hook, lower.sent, now()).every((config) => subscribes(config, lower)))
        continue;
      if (hook.account.silences.some(({ ended }) => ended > lower.sent)) continue;
      const tried = [...calls.values()]
        .flat()
        .filter((one) => one.hook === hook && one.news === lower);
      const ended = tried.some(({ heard }) => heard !== undefined && isFinal(heard));
      if (!ended && now() < lower.sent + minuteMs - 2 * mostSkew)
        throw new Violation(`level ${news.level} came before level ${level}: delivery ${id}`);
    }
  };
  return {
    /** Responds to a call as its receiver does at the moment, if at all. */
    async respond(url: string, init: RequestInit): Promise<Response> {
      const call = arrived(url, init);
      const aborted = new Promise<never>((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
      );
      const response = async () => {
        const mood = await through('receiver', () => call.hook.mood);
        note(`${url} is ${mood}`);
        if (mood === 'hangs') return aborted;
        if (mood === 'slow') await sleep(below(slowestMs));
        return { up: 200, slow: 200, down: 500, gone: 410 }[mood];
      };
      try {
        call.heard = await Promise.race([response(), aborted]);
        return new Response('response', { status: call.heard });
      } finally {
        call.running = false;
      }
    },

    /** What is wrong with a webhook's deliveries in the end, when all receivers have been well for long enough. */
    check(hook: Hook, deliveries: Delivery[]) {
      for (const news of hook.account.news.values()) {
        const key = keyOf(news.eventId, news.level);
        const found = deliveries.filter((one) => keyOf(one.eventId, one.level ?? 0) === key);
        if (hook.account.disconnected.has(news.connectionId)) {
          if (found.length > 0) throw new Violation(`${key} is left of a deleted connection`);
          continue;
        }
        const expected = isFor(hook, news);
        // An event that is too old when it is first seen is held back; clocks may be some seconds off.
        const isOld = (at: number) => news.level === 0 && news.at < at - newsMs;
        const problem =
          (found.length > 1 && 'has several deliveries') ||
          (found.length === 0 &&
            expected === 'must' &&
            !isOld(news.accepted + minuteMs) &&
            'is lost') ||
          (found.length > 0 && isOld(news.sent - minuteMs) && 'is too old') ||
          (found.length > 0 && expected === 'never' && 'is not');
        if (problem) throw new Violation(`${key} ${problem} for ${hook.url}`);
        for (const delivery of found) checkEnd(hook, news, delivery);
      }
    },
  };

  function checkEnd(hook: Hook, news: News, { id, status, attempts }: Delivery) {
    const all = calls.get(id) ?? [];
    const heard = all.flatMap((one) => one.heard ?? []);
    const isRight = {
      pending: false,
      delivered: heard.some(isSuccess),
      failed: heard.includes(410) || attempts === maxAttemptsOf(news.type),
      cancelled:
        hook.account.silences.length > 0 ||
        hook.changes.some(({ done, config }) => done >= news.sent && !subscribes(config, news)),
    }[status];
    if (!isRight)
      throw new Violation(
        `delivery ${id} ended ${status} after ${attempts} attempts, heard ${heard}`,
      );
    const recorded = all.filter((one) => one.heard !== undefined && !one.by.disturbed).length;
    if (attempts > all.length || attempts < recorded)
      throw new Violation(
        `delivery ${id} has ${attempts} attempts, though ${all.length} calls were made`,
      );
    const lost = all.find(
      (one) => one.heard !== undefined && isSuccess(one.heard) && !one.by.disturbed,
    );
    if (lost && status !== 'delivered')
      throw new Violation(`delivery ${id} succeeded, and is ${status}`);
  }
}

export class Violation extends Error {}

const isSuccess = (status: number) => status >= 200 && status < 300;
const isFinal = (status: number) => isSuccess(status) || status === 410;
