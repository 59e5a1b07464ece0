import { env } from 'cloudflare:workers';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import type { DeliveryMessage } from '#src/core/webhooks/deliveries/queue.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import { listenToLog, minuteMs, story, through, unattempted } from '#test/support.ts';

const { us, register, happen } = story();

it('work that fails for minutes is asked for by one message, however often the sweep runs', async () => {
  const hook = await register();
  await unattempted(hook.id, () => happen());
  const { lines } = listenToLog();
  const wake = { accountId: us.accountId, webhookId: hook.id, worker: 1 };
  const queue: DeliveryMessage[] = [wake];
  const DELIVERIES = {
    send: async (body: DeliveryMessage) => void queue.push(body),
    sendBatch: async (batch: MessageSendRequest<DeliveryMessage>[]) =>
      void queue.push(...batch.map(({ body }) => body)),
  } as unknown as Queue; // all that they use
  const DB = through(env.DB, () => Promise.reject(new Error('D1 DB is broken')));
  for (let minute = 1; minute <= 3; minute++) {
    await sweep({ ...env, DELIVERIES }, Date.now() + minute * minuteMs);
    expect(queue).toHaveLength(2);
    for (const message of queue.splice(0)) await handle({ ...env, DB, DELIVERIES }, message);
    expect(queue).toEqual([wake]);
    const said = { message: 'Deliveries were interrupted', webhookId: hook.id };
    expect(lines('fault')).toMatchObject(Array(2 * minute).fill(said));
  }
});
