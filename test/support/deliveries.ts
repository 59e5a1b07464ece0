import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { minuteMs } from '#src/core/platform/durations.ts';
import { fromStored } from '#src/core/webhooks/deliveries/policy.ts';
import { claimStatements, readClaim } from '#src/core/webhooks/deliveries/send/claim.ts';
import { db, rows, value } from './rows.ts';
import { minute } from './service.ts';

export type DeliveryRow = {
  webhookId: string;
  id: string;
  status: string;
  attempts: number;
  nextAttemptAt: number;
  claimedUntil: number;
  log: {
    result: string;
    status?: number;
    answer?: string;
    reason?: string;
    at: number;
    durationMs: number;
  }[];
};

export async function deliveriesOf(webhookId: string): Promise<DeliveryRow[]> {
  const results = await rows<DeliveryRow & { log: string }>(
    `select webhook_id as webhookId, id, status, attempts, next_attempt_at as nextAttemptAt,
       claimed_until as claimedUntil, log
     from deliveries where webhook_id = ?1 order by id`,
    webhookId,
  );
  return results.map((row) => ({ ...row, log: JSON.parse(row.log).map(fromStored) }));
}

/** Waits until `look` finds something among the deliveries of the webhook. */
const found = <T>(webhookId: string, look: (all: DeliveryRow[]) => T | undefined): Promise<T> =>
  vi.waitFor(
    async () => {
      const all = await deliveriesOf(webhookId);
      const one = look(all);
      if (one === undefined)
        throw new Error(all.map(({ status, attempts }) => `${status} ${attempts}`).join());
      return one;
    },
    { timeout: 30_000, interval: 20 },
  );

/** Waits until so many deliveries of the webhook have ended, or have this status. */
export const settled = (webhookId: string, count = 1, wanted?: string) =>
  found(webhookId, (all) => {
    const ended = all.filter(({ status }) => (wanted ? status === wanted : status !== 'pending'));
    return ended.length < count ? undefined : ended;
  });

/** Waits until a delivery of the webhook has been attempted so often. */
export const attempted = (webhookId: string, attempts = 1) =>
  found(webhookId, ([first]) => (first && first.attempts >= attempts ? first : undefined));

/** Has something happen whose deliveries are due, with no message on its way for them. */
export async function unattempted<T>(webhookId: string, happen: () => Promise<T>): Promise<T> {
  const refuse = [
    vi.spyOn(env.DELIVERIES, 'send').mockRejectedValue(new Error('Queue is overloaded')),
    vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValue(new Error('Queue is overloaded')),
  ];
  await pauseFor(webhookId, 1e12);
  const result = await happen();
  // Accidents do not wait for the queue: their worker finds the receiver's circuit open, sets a timer, and ends.
  const timer = () => value('select timer_at from webhook_health where webhook_id = ?1', webhookId);
  const accidents = `select 1 from deliveries where webhook_id = ?1 and status = 'pending' and priority = 0`;
  if (await value(accidents, webhookId))
    await vi.waitFor(async () => expect(await timer()).toBeTruthy(), 30_000);
  await rows('delete from webhook_health where webhook_id = ?1', webhookId);
  for (const spy of refuse) spy.mockRestore();
  return result;
}

/** Makes the webhook's pending deliveries due since a minute, and its circuit. For days, they would be given up. */
export async function makeDue(webhookId: string): Promise<void> {
  const pending = `status = 'pending' and webhook_id = ?1`;
  await rows(
    `update deliveries set next_attempt_at = ?2 where ${pending}`,
    webhookId,
    Date.now() - minuteMs,
  );
  await rows('update webhook_health set open_until = 0 where webhook_id = ?1', webhookId);
}

/** Has what is pending of webhooks tried by the next minute. */
export async function tryAgain(...webhookIds: string[]): Promise<void> {
  for (const id of webhookIds) await makeDue(id);
  await minute();
}

/** What is known of a webhook's receiver. */
export const healthOf = async (webhookId: string) =>
  (
    await rows<{ failures: number; openings: number; openUntil: number; window: number }>(
      'select failures, openings, open_until as openUntil, window from webhook_health where webhook_id = ?1',
      webhookId,
    )
  )[0];

/** Makes it seem that the webhook's circuit is open for a time. */
export const pauseFor = (webhookId: string, ms: number, openings = 4) =>
  rows(
    'insert or replace into webhook_health (webhook_id, failures, openings, open_until) values (?1, 9, ?2, ?3)',
    webhookId,
    openings,
    Date.now() + ms,
  );

/** Has a webhook with a healthy receiver and a window of this size. */
export const setWindow = (webhookId: string, window: number) =>
  rows(
    'insert or replace into webhook_health (webhook_id, failures, openings, open_until, window) values (?1, 0, 0, 0, ?2)',
    webhookId,
    window,
  );

/** Claims as a worker does, and then it is gone. */
export const claim = async (webhookId: string, count = 50, now = Date.now()) => {
  return readClaim(await transaction(db, claimStatements(db, { webhookId, count, now })));
};
