import { newId } from '../../../../src/core/platform/db/ids.ts';
import { othersAreActive } from '../../../../src/core/platform/fair-queue.ts';
import { handle } from '../../../../src/core/webhooks/deliveries/consumer.ts';
import { maxNotificationBytes } from '../../../../src/core/webhooks/deliveries/fan-out.ts';
import { listenToLog } from '../../../support/log.ts';
import { safetyEvent, vehicle } from '../../../support/records.ts';
import { addRows, addWebhooks, rows, value } from '../../../support/rows.ts';
import { metered } from '../../../support/runtime/meter.ts';
import { register, worldBefore } from '../../../support/world.ts';

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

it('to more webhooks than an invocation has queries for continues at once by a message', async () => {
  const [webhookIds, id, notifications] = [await addWebhooks(us.accountId, 250), newId(), 300];
  await rows(
    `update webhooks set options = '{"filters":{"minEventRisk":5}}' where account_id = ?1`,
    us.accountId,
  );
  await addRows('webhook_connections', webhookIds.length, (i) => ({
    webhook_id: webhookIds[i],
    connection_id: us.connection.id,
    notification_types: 2,
    filtered: 1,
  }));
  await rows(
    `insert into fan_outs (id, account_id, connection_id, type, notifications, expanded_to, created_at)
     select ?1, ?2, ?3, 2, json_group_array(json_object('eventId', value, 'level', 0, 'data', json_object('eventRisk', 1))),
       '', ?4 from json_each(?5)`,
    ...[
      id,
      us.accountId,
      us.connection.id,
      Date.now(),
      JSON.stringify([...Array(notifications).keys()]),
    ],
  );
  const log = listenToLog();
  const [first, second] = [metered(), metered()];
  await handle(first.env, { fanOut: id });
  expect(first.woken).toEqual([{ fanOut: id }]);
  await handle(second.env, { fanOut: id });
  expect(second.woken).toEqual([]);
  expect(log.lines('fault')).toEqual([]);
  expect(await rows('select id from fan_outs where id = ?1', id)).toEqual([]);
});
