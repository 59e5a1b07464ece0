import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { othersAreActive } from '../../../src/platform/fair-queue.ts';
import { maxNotificationBytes } from '../../../src/webhooks/deliveries/fan-out.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, type World, webhookBody, worldBefore } from '../../support/world.ts';

const us: World = worldBefore(beforeEach);

const words = Array.from({ length: 20 }, (_, n) => `Word ${n}`);

const delivered = async () =>
  (await rows<{ n: number }>('select count(*) as n from deliveries where account_id = ?1', us.accountId))[0]
    ?.n;

it('remembers what remains in rows that can be restored from a backup, each continued by itself', async () => {
  const events = Array.from({ length: 500 }, (_, n) =>
    safetyEvent({ sourceId: `e${n}`, incidentTypes: [...words, 'Braking', 'Speeding'].slice(2) }),
  );
  for (let n = 0; n < 6; n++)
    await as(us.apiToken).post('/webhook', webhookBody(us, { url: `https://r${n}.example.com/` }));
  await as(us.connection.ingestKey).send(vehicle());
  // They are continued and deleted at once.
  await rows(
    `create trigger fan_out_noted after insert on fan_outs
     begin insert into test_calls values (0, new.id, length(new.notifications)); end`,
  );
  onTestFinished(async () => void (await rows('drop trigger fan_out_noted')));
  // Otherwise the call would be written in parts.
  await vi.waitFor(() => expect(othersAreActive(us.accountId)).toBe(false), { timeout: 20_000 });
  await as(us.connection.ingestKey).send(...events);
  const noted = await rows<{ calls: number }>('select calls from test_calls where hour = 0');
  expect(noted.length).toBeGreaterThan(1);
  for (const { calls: length } of noted) expect(length).toBeLessThan(maxNotificationBytes + 10_000);
  await vi.waitFor(async () => expect(await delivered()).toBe(6 * 500), { timeout: 30_000 });
});
