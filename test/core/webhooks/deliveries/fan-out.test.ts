import { othersAreActive } from '#src/core/platform/fair-queue.ts';
import { maxNotificationBytes } from '#src/core/webhooks/deliveries/fan-out.ts';
import {
  ownRows,
  register,
  rows,
  safetyEvent,
  times,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);

const words = times(20, (n) => `Word ${n}`);

it('remembers what remains in rows that can be restored from a backup', async () => {
  const events = times(500, (n) =>
    safetyEvent({ sourceId: `e${n}`, incidentTypes: [...words, 'Braking', 'Speeding'].slice(2) }),
  );
  for (let n = 0; n < 6; n++) await register(us, { url: `https://r${n}.example.com/` });
  await us.send(vehicle());
  // They are continued and deleted at once.
  await rows('create table noted (length integer)');
  await rows(
    `create trigger fan_out_noted after insert on fan_outs
     begin insert into noted values (length(new.notifications)); end`,
  );
  onTestFinished(async () => {
    await rows('drop trigger fan_out_noted');
    await rows('drop table noted');
  });
  // Otherwise the call would be written in parts.
  await expect.poll(() => othersAreActive(us.accountId)).toBe(false);
  await us.send(...events);
  const noted = await rows<{ length: number }>('select length from noted');
  expect(noted.length).toBeGreaterThan(1);
  for (const { length } of noted) expect(length).toBeLessThan(maxNotificationBytes + 10_000);
  await expect.poll(async () => (await ownRows(us, 'deliveries')).length).toBe(6 * 500);
});
