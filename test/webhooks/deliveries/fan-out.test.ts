import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { dumpedBytes } from '../../../src/platform/db/dump.ts';
import { continueFanOut, maxNotificationBytes } from '../../../src/webhooks/deliveries/fan-out.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, type World, webhookBody, worldBefore } from '../../support/world.ts';

const us: World = worldBefore(beforeEach);

const words = Array.from({ length: 20 }, (_, n) => `Word ${n}`);

const delivered = async () =>
  (await rows<{ n: number }>('select count(*) as n from deliveries where account_id = ?1', us.accountId))[0]
    ?.n;

it('remembers what remains in rows that can be restored from a backup, each to be continued by itself', async () => {
  const events = Array.from({ length: 500 }, (_, n) =>
    safetyEvent({ sourceId: `e${n}`, incidentTypes: [...words, 'Braking', 'Speeding'].slice(2) }),
  );
  for (let n = 0; n < 6; n++)
    await as(us.apiToken).post('/webhook', webhookBody(us, { url: `https://r${n}.example.com/` }));
  await as(us.connection.ingestKey).send(vehicle());
  vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValue(new Error('Queue is overloaded'));
  await as(us.connection.ingestKey).send(...events);
  const left = await rows<{ id: string; notifications: string }>(
    'select id, notifications from fan_outs where account_id = ?1 order by id',
    us.accountId,
  );
  expect(left.length).toBeGreaterThan(1);
  for (const { notifications } of left)
    expect(dumpedBytes(notifications)).toBeLessThan(maxNotificationBytes + 10_000);
  expect(await delivered()).toBe(4 * 500);
  for (const { id } of left) expect(await continueFanOut(env, id, () => true)).toBe(true);
  expect(await delivered()).toBe(6 * 500);
});
