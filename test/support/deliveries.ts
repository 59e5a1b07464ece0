import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { transaction } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/system.ts';
import { fromStored } from '../../src/webhooks/deliveries/policy.ts';
import { claimStatements, readClaim } from '../../src/webhooks/deliveries/send/claim.ts';
import { rows } from './rows.ts';

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

/** The deliveries for a webhook, oldest first. */
export async function deliveriesOf(webhookId: string): Promise<DeliveryRow[]> {
  const results = await rows<DeliveryRow & { log: string }>(
    `select webhook_id as webhookId, id, status, attempts, next_attempt_at as nextAttemptAt,
       claimed_until as claimedUntil, log
     from deliveries where webhook_id = ?1 order by id`,
    webhookId,
  );
  return results.map((row) => ({ ...row, log: JSON.parse(row.log).map(fromStored) }));
}

/** Waits until so many deliveries of the webhook have one of the statuses. */
export function settled(webhookId: string, count = 1, statuses = ['delivered', 'failed', 'cancelled']) {
  return vi.waitFor(
    async () => {
      const rows = (await deliveriesOf(webhookId)).filter(({ status }) => statuses.includes(status));
      if (rows.length < count) throw new Error(`${rows.length} of ${count} deliveries are settled`);
      return rows;
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** Waits until a delivery of the webhook has been attempted so often. */
export function attempted(webhookId: string, attempts = 1) {
  return vi.waitFor(
    async () => {
      const [row] = await deliveriesOf(webhookId);
      if (!row || row.attempts < attempts)
        throw new Error(`${row?.attempts ?? 'no'} of ${attempts} attempts`);
      return row;
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** Has something happen whose deliveries are due, with no message on its way for them. */
export async function unattempted<T>(webhookId: string, happen: () => Promise<T>): Promise<T> {
  const refuse = [
    vi.spyOn(env.DELIVERIES, 'send').mockRejectedValue(new Error('Queue is overloaded')),
    vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValue(new Error('Queue is overloaded')),
  ];
  const health = (sql: string) => env.DB.prepare(sql).bind(webhookId);
  await health(
    `insert into webhook_health (webhook_id, failures, openings, open_until) values (?1, 5, 1, 1e15)`,
  ).run();
  const result = await happen();
  // A worker that finds the receiver's circuit open sees to it that it is woken later, and ends.
  await vi.waitFor(async () => {
    const row = await health('select timer_at as at from webhook_health where webhook_id = ?1').first<{
      at: number;
    }>();
    if (!row?.at) throw new Error('the worker has not ended');
  }, 30_000);
  await health('delete from webhook_health where webhook_id = ?1').run();
  for (const spy of refuse) spy.mockRestore();
  return result;
}

/** Makes the webhook's pending deliveries due now, and its circuit. */
export const makeDue = (webhookId: string) =>
  env.DB.batch([
    env.DB.prepare(
      `update deliveries set next_attempt_at = 0 where status = 'pending' and webhook_id = ?1`,
    ).bind(webhookId),
    env.DB.prepare(`update webhook_health set open_until = 0 where webhook_id = ?1`).bind(webhookId),
  ]);

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
  const db = openDatabase(env);
  return readClaim(await transaction(db, claimStatements(db, { webhookId, count, now })), now);
};
