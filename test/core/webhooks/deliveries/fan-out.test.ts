import { othersAreActive } from '#src/core/platform/fair-queue.ts';
import { maxNotificationBytes } from '#src/core/webhooks/deliveries/fan-out.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { register, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);

const words = Array.from({ length: 20 }, (_, n) => `Word ${n}`);

const delivered = () =>
  value('select count(*) from deliveries where account_id = ?1', us.accountId);

it('remembers what remains in rows that can be restored from a backup', async () => {
  const events = Array.from({ length: 500 }, (_, n) =>
    safetyEvent({ sourceId: `e${n}`, incidentTypes: [...words, 'Braking', 'Speeding'].slice(2) }),
  );
  for (let n = 0; n < 6; n++) await register(us, { url: `https://r${n}.example.com/` });
  await us.send(vehicle());
  // They are continued and deleted at once.
  await rows(
    `create trigger fan_out_noted after insert on fan_outs
     begin insert into test_calls values (0, new.id, length(new.notifications)); end`,
  );
  onTestFinished(async () => void (await rows('drop trigger fan_out_noted')));
  // Otherwise the call would be written in parts.
  await expect.poll(() => othersAreActive(us.accountId), { timeout: 20_000 }).toBe(false);
  await us.send(...events);
  const noted = await rows<{ calls: number }>('select calls from test_calls where hour = 0');
  expect(noted.length).toBeGreaterThan(1);
  for (const { calls: length } of noted) expect(length).toBeLessThan(maxNotificationBytes + 10_000);
  await expect.poll(delivered, { timeout: 30_000 }).toBe(6 * 500);
});
