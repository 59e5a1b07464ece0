import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { maxWorkers } from '#src/core/webhooks/deliveries/send/worker.ts';
import { newId, times } from '#test/support.ts';

it('an account has 200 workers in an isolate, and those of accidents; others come back a second later', {
  tags: ['proof'],
}, async () => {
  const held = Promise.withResolvers<void>();
  const DB = through(env.DB, (run) => held.promise.then(run));
  const later = vi.fn(async () => {});
  const bindings = { ...env, DB, DELIVERIES: { send: later, sendBatch: later } } as unknown as Env;
  const [ours, theirs] = [newId(), newId()];
  const handled = (accountId: string, more = {}) =>
    handle(bindings, { accountId, webhookId: newId(), worker: 1, ...more });
  const work = times(maxWorkers, () => handled(ours));
  work.push(handled(ours, { webhookId: 'late' }));
  const late = [{ accountId: ours, webhookId: 'late', worker: 1 }, { delaySeconds: 1 }];
  await expect.poll(() => later.mock.calls).toEqual([late]);
  work.push(handled(ours, { accidents: true }), handled(theirs));
  held.resolve();
  await Promise.all(work);
  await handled(ours);
  expect(later.mock.calls).toEqual([late]);
});
