import { beforeEach } from 'vitest';
import { receiver } from './receiver.ts';
import { safetyEvent, vehicle } from './records.ts';
import { rows } from './rows.ts';
import { as, type WebhookOut, type World, webhookBody, world } from './world.ts';

/** Fresh for each test: an account, its receivers, and what tests of deliveries do most. */
export function story() {
  const tale = {} as { us: World; heard: ReturnType<typeof receiver> }; // filled in before each test
  beforeEach(async () => {
    // What an earlier test left pending would be retried, and reach this one's receiver.
    await rows(`update deliveries set status = 'cancelled' where status = 'pending'`);
    tale.heard = receiver();
    tale.us = await world();
  });
  return Object.assign(tale, {
    /** The account's API, and what its connector sends. */
    api: () => as(tale.us.apiToken),
    send: (...records: unknown[]) => as(tale.us.connection.ingestKey).send(...records),
    /** Registers a webhook. */
    register: async (changes: object = {}) =>
      (await as(tale.us.apiToken).post<WebhookOut>('/webhook', webhookBody(tale.us, changes))).data,
    /** Has so many safety events come in. */
    happen: (count = 1, prefix = 'e') =>
      as(tale.us.connection.ingestKey).send(
        vehicle(),
        ...Array.from({ length: count }, (_, i) => safetyEvent({ sourceId: `${prefix}${i}` })),
      ),
  });
}
