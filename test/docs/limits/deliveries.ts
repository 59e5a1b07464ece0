import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { openDatabase, transaction } from '../../../src/db/database.ts';
import { newId } from '../../../src/db/ids.ts';
import { attempt } from '../../../src/deliveries/attempt.ts';
import {
  circuitAfter,
  circuitFirstMs,
  circuitLongestMs,
  giveUpAfterMs,
  nextAfter,
  schedule,
} from '../../../src/deliveries/policy.ts';
import { prune } from '../../../src/deliveries/prune.ts';
import { recordStatements } from '../../../src/deliveries/record.ts';
import { replay } from '../../../src/deliveries/replay.ts';
import { claim, deliveriesOf } from '../../support/deliveries.ts';
import { rows } from '../../support/rows.ts';
import { addDeliveries, api, create, dayMs, type Hits, letters, minuteMs, times, us } from './setting.ts';

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
  'calls to a webhook in flight': async (limit) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'pending');
    expect((await claim(id, limit + 1)).claimed).toHaveLength(limit);
    expect((await claim(id, 1)).claimed).toHaveLength(0);
    await rows('delete from deliveries where webhook_id = ?1', id);
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
      await transaction(db, recordStatements(db, id, outcomes, undefined, Date.now()));
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
  'failed deliveries replayed at a time': async (limit) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'failed');
    const bindings = {
      ...env,
      DELIVERIES: { sendBatch: async () => {} } as unknown as typeof env.DELIVERIES,
    };
    const caller = { accountId: us.accountId, operator: true } as const;
    expect(await replay(bindings, caller, id, {})).toEqual({ replayed: limit, more: true });
    expect(await replay(bindings, caller, id, {})).toEqual({ replayed: 1, more: false });
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

/** An attempt at a receiver. */
const aCall = (): Parameters<typeof attempt> => [
  { url: 'https://receiver.example.com/', httpVerb: 'POST', headers: {} },
  { id: newId(), attempt: 1, type: 2, data: '{}' },
];
