import { beforeAll, beforeEach } from 'vitest';
import { firstIdAt, newId } from '../../src/platform/db/ids.ts';
import type { DeliverySummary } from '../../src/webhooks/deliveries/schema.ts';
import { rows } from './rows.ts';
import { as, type WebhookOut, type World, webhookBody, world } from './world.ts';

/** A delivery as it is put into the database. */
export type Seed = {
  webhookId: string;
  id: string;
  eventId: string;
  level: number;
  status: string;
  priority: number;
  dueAt: number;
};

/** An account whose deliveries are listed; none are left of the test before. */
export function listedDeliveries() {
  const setting = {} as { us: World }; // filled in before all tests
  beforeAll(async () => {
    setting.us = await world();
  });
  beforeEach(async () => {
    for (const table of ['webhooks', 'deliveries', 'notifications']) await rows(`delete from ${table}`);
  });
  return Object.assign(setting, {
    /** Registers a webhook. */
    register: async (changes: object = {}, whose = setting.us) =>
      (await as(whose.apiToken).post<WebhookOut>('/webhook', webhookBody(whose, changes))).data,
    /** Asks for a page. */
    list: (query = '', token = setting.us.apiToken) =>
      as(token).get<DeliverySummary[]>(`/deliveries${query}`),
    /** Puts deliveries into the database as they are. */
    insert: (seeds: Seed[]) =>
      rows(
        `insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at)
         select value->>'webhookId', value->>'id', ?2, value->>'eventId', value->>'level', value->>'status',
           value->>'priority', value->>'dueAt' from json_each(?1)`,
        JSON.stringify(seeds),
        setting.us.accountId,
      ),
  });
}

/** An id of a time, as deliveries have them. */
export const idAt = (ms: number): string => firstIdAt(ms).slice(0, 14) + newId().slice(14);

/** Compares value by value, as an index does. */
export const compare = (a: (string | number)[], b: (string | number)[]): number => {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1;
};
