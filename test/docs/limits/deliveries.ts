import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { operatorIn } from '../../../src/accounts/owner.ts';
import { openDatabase, transaction } from '../../../src/platform/db/database.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { attempt } from '../../../src/webhooks/deliveries/attempt.ts';
import type { Claimed } from '../../../src/webhooks/deliveries/claim.ts';
import {
  circuitAfter,
  circuitFirstMs,
  circuitLongestMs,
  giveUpAfterMs,
  levelPatienceMs,
  nextAfter,
  schedule,
} from '../../../src/webhooks/deliveries/policy.ts';
import { recordStatements, reportOf } from '../../../src/webhooks/deliveries/record.ts';
import { replay } from '../../../src/webhooks/deliveries/replay.ts';
import { countReplayable } from '../../../src/webhooks/deliveries/replayable.ts';
import { prune } from '../../../src/webhooks/deliveries/sweep.ts';
import { claim, deliveriesOf } from '../../support/deliveries.ts';
import { rows } from '../../support/rows.ts';
import { addDeliveries, api, create, dayMs, type Hits, letters, minuteMs, times, us } from './setting.ts';

const ok = { result: 'success', status: 200, answer: '' } as const;

export const deliveryHits: Hits = {
  'time for your receiver to answer': async (seconds) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    await attempt(...aCall());
    expect(timeout).toHaveBeenCalledWith(seconds * 1000);
    // test/journey/receivers.test.ts waits for it.
  },
  'what we read of its answer, for the log': async (seconds, limit = 0) => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += 512;
          controller.enqueue(new Uint8Array(512).fill(97));
        },
      },
      { highWaterMark: 0 },
    );
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(endless));
    await attempt(...aCall());
    expect(sent).toBe(limit);
    const silent = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('and then')),
    });
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(silent));
    const began = Date.now();
    expect(await attempt(...aCall())).toEqual({ result: 'success', status: 200, answer: 'and then' });
    expect(Math.round((Date.now() - began) / 1000)).toBe(seconds);
  },
  'what we show of its answer': async (limit) => {
    const shown = async (answer: string) => {
      vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(answer));
      return attempt(...aCall());
    };
    expect(await shown(letters(limit))).toMatchObject({ answer: letters(limit) });
    expect(await shown(letters(limit + 1))).toMatchObject({ answer: letters(limit) });
    expect(await shown('"'.repeat(limit))).toMatchObject({ answer: '"'.repeat(limit / 2) });
  },
  'calls to a webhook in flight': async (first, limit = 0, seconds = 0) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'pending');
    expect((await claim(id, limit + 1)).claimed).toHaveLength(first);
    await rows(
      'insert into webhook_health (webhook_id, failures, openings, open_until, window) values (?1, 0, 0, 0, 999)',
      id,
    );
    expect((await claim(id, limit + 1)).claimed).toHaveLength(limit - first);
    await rows('delete from deliveries where webhook_id = ?1', id);
    const answeredIn = (durationMs: number) =>
      reportOf(
        [{ key: {} as Claimed, status: 'delivered', attempt: { at: 0, durationMs, ...ok } }], // the key is not looked at
        { failures: 0, window: first, more: true },
      );
    expect(answeredIn(seconds * 1000)?.widen).toBe(true);
    expect(answeredIn(seconds * 1000 + 1)).toBeUndefined();
  },
  'time that a level of an accident waits for the one before it': async (seconds) => {
    expect(levelPatienceMs).toBe(seconds * 1000);
    // test/webhooks/deliveries/accident-order.test.ts waits for it.
  },
  'attempts of a delivery': async (most, hours) => {
    const failed = { result: 'timeout' } as const;
    expect(nextAfter(failed, most - 1, 0, 0.5).status).toBe('pending');
    expect(nextAfter(failed, most, 0, 0.5).status).toBe('failed');
    const allMs = schedule.reduce<number>((sum, ms) => sum + ms, 0);
    expect(Math.round(allMs / 3_600_000)).toBe(hours);
  },
  'attempts that the log of a delivery shows': async (latest) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, 1, 'pending');
    const [claimed] = (await claim(id, 1)).claimed;
    if (!claimed) throw new Error('nothing was claimed');
    const db = openDatabase(env);
    for (let at = 0; at < latest + 2; at++) {
      const key = { ...claimed, claimedUntil: at === 0 ? claimed.claimedUntil : 0 };
      const made = { at, durationMs: 1, result: 'timeout' } as const;
      const outcomes = [{ key, status: 'pending', nextAttemptAt: 0, attempt: made } as const];
      await transaction(db, recordStatements(db, id, outcomes, { now: Date.now() }));
    }
    const [row] = await deliveriesOf(id);
    expect(row?.log.map(({ at }) => at)).toEqual([0, ...times(latest, (i) => i + 2)]);
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  '`Retry-After` that we honour': async (factor) => {
    const busy = { result: 'status', status: 503, answer: '', retryAfter: 365 * dayMs } as const;
    expect(nextAfter(busy, 1, 0, 0.5)).toEqual({ status: 'pending', at: factor * schedule[0] });
  },
  'attempts that may fail in a row': async (limit) => expect(circuitAfter).toBe(limit),
  'pause of a receiver that keeps failing': async (seconds, minutes = 0) =>
    expect([circuitFirstMs, circuitLongestMs]).toEqual([seconds * 1000, minutes * minuteMs]),
  'time that a delivery waits for a paused receiver': async (days) =>
    expect(giveUpAfterMs).toBe(days * dayMs),
  'deliveries replayed at a time': async (limit) => {
    const { id } = (await create({})).data;
    await addTold(id, limit + 1);
    const { next: after, ...first } = await replay(unwoken, operatorIn(us.accountId), id, {});
    expect(first).toEqual({ replayed: limit, more: true });
    const rest = await replay(unwoken, operatorIn(us.accountId), id, { after });
    expect(rest).toEqual({ replayed: 1, more: false });
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'deliveries that a replay counts first': async (limit) => {
    const { id } = (await create({})).data;
    const counted = () => countReplayable(env, operatorIn(us.accountId), id, {});
    await addTold(id, limit - 1);
    expect(await counted()).toMatchObject({ count: limit - 1, more: false });
    await addTold(id, 2);
    expect(await counted()).toMatchObject({ count: limit, more: true });
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'age of a delivery that can be replayed': async (days) => {
    const { id } = (await create({})).data;
    for (const ms of [days * dayMs - minuteMs, days * dayMs + minuteMs])
      await addTold(id, 1, newId(Date.now() - ms));
    const counted = await countReplayable(env, operatorIn(us.accountId), id, {});
    expect(counted).toEqual({ count: 1, more: false, tooOld: 1 });
    expect(await replay(unwoken, operatorIn(us.accountId), id, {})).toMatchObject({ replayed: 1 });
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'time that deleting a webhook takes': async (seconds) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, 1, 'pending');
    await claim(id, 1); // by a consumer that may start the call as long as that
    const began = Date.now();
    expect((await api().delete(`/webhook/${id}`)).status).toBe(200);
    expect(Math.round((Date.now() - began) / 1000)).toBe(seconds);
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'time that finished deliveries are kept': async (days) => {
    await rows('delete from deliveries');
    await addDeliveries(newId(), 1, 'delivered');
    expect(await prune(env, Date.now() + days * dayMs - minuteMs)).toBe(0);
    expect(await prune(env, Date.now() + days * dayMs + minuteMs)).toBe(1);
  },
};

/** The service's bindings, with a queue that wakes nobody. */
const unwoken = {
  ...env,
  DELIVERIES: { sendBatch: async () => {} } as unknown as typeof env.DELIVERIES, // all that a replay uses
};

/** Adds failed deliveries of a webhook, of one notification that it subscribes to; the first has an id of this time. */
async function addTold(webhookId: string, count: number, first = newId()) {
  await addDeliveries(webhookId, count, 'failed', first);
  await rows(
    `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
     select event_id, level, 2, account_id, ?2, '{}', 0 from deliveries where webhook_id = ?1 on conflict do nothing`,
    webhookId,
    us.connection.id,
  );
}

/** An attempt at a receiver. */
const aCall = (): Parameters<typeof attempt> => [
  { url: 'https://receiver.example.com/', httpVerb: 'POST', headers: {} },
  { id: newId(), attempt: 1, type: 2, data: '{}' },
];
