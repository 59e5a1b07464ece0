import { newId } from '#src/core/platform/db/ids.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { listenToLog } from '#test/support/log.ts';
import { addRows, addWebhooks, rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);

it('a fan-out to more webhooks than an invocation has queries for continues at once by a message', async () => {
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
