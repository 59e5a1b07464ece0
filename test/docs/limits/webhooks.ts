import { expect } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { rows } from '../../support/rows.ts';
import { as, type WebhookOut, webhookBody, world } from '../../support/world.ts';
import { create, type Hits, letters, refusesMore, times } from './setting.ts';

export const webhookHits: Hits = {
  'webhooks of an account': async (limit) => {
    const them = await world();
    const add = () => as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    const { id } = (await add()).data;
    await rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
       insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
       select id || i, account_id, url || i, url || i, http_verb, headers, notification_types, created_at
       from webhooks, n where id = ?1`,
      id,
      limit - 2,
    );
    expect(await add()).toMatchObject({ status: 200 });
    expect(await add()).toMatchObject({ status: 400, message: expect.stringContaining(`at most ${limit}`) });
  },
  'connections of a webhook': async (limit) => {
    const { errors } = await create({ connectionIds: times(limit + 1, newId) });
    expect(errors).toMatchObject([{ field: 'connectionIds' }]);
    // They fit into a body: those of others are refused as such.
    const { message, errors: others } = await create({ connectionIds: times(limit, newId) });
    expect([message, others]).toEqual(['Invalid connection ids', undefined]);
  },
  '`url`': (limit) =>
    refusesMore(limit, 400, (size) => create({ url: 'https://receiver.example.com/'.padEnd(size, 'u') })),
  'port of `url`': async (https, lowest = 0) => {
    const status = async (port: number) =>
      (await create({ url: `https://receiver.example.com:${port}/${newId()}` })).status;
    expect(await Promise.all([https, lowest].map(status))).toEqual([200, 200]);
    expect(await Promise.all([https - 1, lowest - 1].map(status))).toEqual([400, 400]);
  },
  '`headers`': (limit) =>
    refusesMore(limit, 400, (size) =>
      create({ headers: Object.fromEntries(times(size, (i) => [`X-${i}`, 'v'])) }),
    ),
  '`headers` in all, as JSON': (limit) =>
    refusesMore(limit, 400, (size) => create({ headers: { X: letters(size - '{"X":""}'.length) } })),
  'name of a header': (limit) =>
    refusesMore(limit, 400, (size) => create({ headers: { [letters(size)]: 'v' } })),
};
