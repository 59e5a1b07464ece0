import { beforeAll, beforeEach, expect, vi } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { signIn } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { as, vehicle, type WebhookOut, type World, webhookBody, world } from '../../support/world.ts';

/** Numbers in the order in which a row names them, sizes in bytes. */
export type Numbers = [number, ...number[]];
/** Reaches a limit, which must still be fine, and goes beyond it, which must not. */
export type Hit = (...limits: Numbers) => Promise<void>;
/** How each row of a section is hit, by its first cell. */
export type Hits = Record<string, Hit>;

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Our account, and the cookie of somebody who is signed in to it. */
export let us: World;
export let cookie: string;
beforeAll(async () => {
  us = await world();
  cookie = (await signIn(us)).cookie;
});
beforeEach(() => {
  receiver();
  return async () => {
    await rows('delete from pulls'); // nothing pulls from a provider that is gone
    vi.restoreAllMocks();
  };
});

export const api = () => as(us.apiToken);
export const connector = () => as(us.connection.ingestKey);
export const letters = (count: number) => 'a'.repeat(count);
export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** `send` takes what has the limit's size, and refuses with `status` what is one bigger. */
export async function refusesMore(
  limit: number,
  status: number,
  send: (size: number) => Promise<{ status: number }>,
) {
  expect(await send(limit)).toMatchObject({ status: 200 });
  expect(await send(limit + 1)).toMatchObject({ status });
}

/** Of two records, with a field at its limit and one beyond, the second is rejected. */
export async function rejectsMore(record: (size: number) => object, limit: number) {
  const { data } = await connector().send(vehicle(), record(limit), record(limit + 1));
  expect(data.rejected).toMatchObject([{ index: 2 }]);
}

/** The minute that rate limiters count in now. */
export const minute = () => Math.floor(Date.now() / minuteMs);

/**
 * Makes one call more than the limit, by somebody who has made none: one is refused. The limiter counts by the minute:
 * if a new one began in between, none may be, and further calls are.
 */
export async function refusedAfter(limit: number, make: (i: number) => Promise<{ status: number }>) {
  const refused = async () => {
    const statuses = (await Promise.all(times(limit + 1, make))).map(({ status }) => status);
    return statuses.filter((status) => status === 429).length;
  };
  const began = minute();
  const first = await refused();
  if (minute() === began) expect(first).toBe(1);
  else await vi.waitFor(async () => expect(await refused()).toBeGreaterThan(0), { timeout: 30_000 });
}

/** Creates a webhook of ours that is valid but for these changes. */
export const create = (changes: object) => api().post<WebhookOut>('/webhook', webhookBody(us, changes));

/** Adds deliveries of a webhook, in a status. */
export const addDeliveries = (webhookId: string, count: number, status: string, first = newId()) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?4)
     insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, give_up_at)
     select ?1, substr(?2, 1, 24) || printf('%012x', i), ?3, 'e' || i, 0, ?5, 0, 0 from n`,
    webhookId,
    first,
    us.accountId,
    count,
    status,
  );
