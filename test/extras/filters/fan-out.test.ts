import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import {
  addRow,
  addRows,
  addWebhooks,
  listenToLog,
  metered,
  newId,
  rows,
  times,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);

it('a fan-out to more webhooks than an invocation has queries for continues at once by a message', {
  tags: ['proof'],
}, async () => {
  const [webhookIds, id] = [await addWebhooks(us.accountId, 250), newId()];
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
  const notification = (i: number) => ({ eventId: `${i}`, level: 0, data: { eventRisk: 1 } });
  await addRow('fan_outs', {
    id,
    account_id: us.accountId,
    connection_id: us.connection.id,
    type: 2,
    notifications: JSON.stringify(times(300, notification)),
    expanded_to: '',
    created_at: Date.now(),
  });
  const log = listenToLog();
  const [first, second] = [metered(), metered()];
  await handle(first.env, { fanOut: id });
  expect(first.woken).toEqual([{ fanOut: id }]);
  await handle(second.env, { fanOut: id });
  expect(second.woken).toEqual([]);
  expect(log.lines('fault')).toEqual([]);
  expect(await rows('select id from fan_outs where id = ?1', id)).toEqual([]);
});
