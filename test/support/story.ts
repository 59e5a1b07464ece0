import { env } from 'cloudflare:workers';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { receiver } from './receiver.ts';
import { safetyEvent, times, vehicle } from './records.ts';
import { rows } from './rows.ts';
import { register, type World, world } from './world.ts';

/** Fresh for each test: an account, its receivers, and what tests of deliveries do most. */
export function story() {
  const us = {} as World; // filled in before each test
  const heard = {} as ReturnType<typeof receiver>;
  beforeEach(async () => {
    // The sweep would find what an earlier test left pending.
    await rows(`update deliveries set status = 'cancelled' where status = 'pending'`);
    Object.assign(heard, receiver());
    Object.assign(us, await world());
  });
  const send = (...records: unknown[]) => us.send(...records);
  return {
    us,
    heard,
    send,
    register: (changes?: object) => register(us, changes),
    /** Works for a webhook, as a consumer does that is woken. */
    work: (webhookId: string) => handle(env, { accountId: us.accountId, webhookId, worker: 1 }),
    /** Has so many safety events come in. */
    happen: (count = 1, prefix = 'e') =>
      send(vehicle(), ...times(count, (i) => safetyEvent({ sourceId: `${prefix}${i}` }))),
  };
}
