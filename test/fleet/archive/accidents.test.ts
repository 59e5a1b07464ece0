import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { archive } from '../../../src/fleet/archive/job.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import { emptyArchive } from '../../support/archive.ts';
import { follower } from '../../support/follower.ts';
import { accident } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach);
beforeEach(async () => {
  await emptyArchive();
});

const eventTime = new Date(Date.now() - 200 * dayMs).toISOString();
const send = (changes: object) => as(us.connection.ingestKey).send(accident({ eventTime, ...changes }));
const list = async () => (await as(us.apiToken).get<Record<string, unknown>[]>('/accidents')).data;
const comparable = (items: Record<string, unknown>[]) =>
  items.map(({ createdAt, updatedAt, levels, ...item }) => ({
    ...item,
    levels: (levels as { notificationLevel: number }[]).map(({ notificationLevel }) => notificationLevel),
  }));

const histories: [string, object[]][] = [
  [
    'a later level',
    [{ notificationLevel: 1 }, { notificationLevel: 3, reportUrl: 'https://r.example.com/1' }],
  ],
  [
    'an earlier level',
    [{ notificationLevel: 2, reportUrl: 'https://r.example.com/2' }, { notificationLevel: 1 }],
  ],
  ['a false alarm', [{ notificationLevel: 1 }, { notificationLevel: 1, dismissed: true }]],
  ['one that is reopened', [{ notificationLevel: 1, dismissed: true }, { notificationLevel: 2 }]],
  [
    'an older version',
    [
      { notificationLevel: 2, sourceUpdatedAt: '2026-06-02T00:00:00Z' },
      { notificationLevel: 1, dismissed: true, sourceUpdatedAt: '2026-06-01T00:00:00Z' },
    ],
  ],
  [
    'what a claim needs',
    [
      { maxSpeedKph: 80, severity: 'high', driver: 'ann' },
      { notificationLevel: 2, maxSpeedKph: 90, accelerationG: 3 },
    ],
  ],
  [
    'less than is known',
    [
      { notificationLevel: 2, maxSpeedKph: 90, driver: 'ann' },
      { notificationLevel: 1, maxSpeedKph: 80, driver: 'bob', severity: 'low' },
    ],
  ],
  ['the same again', [{ notificationLevel: 2 }, { notificationLevel: 2 }]],
];

it.each(histories)(
  '%s joins an archived accident as it would join one in D1',
  async (_, [first = {}, then = {}]) => {
    await send(first);
    await send(then);
    const inD1 = comparable(await list());
    await emptyArchive();

    await send(first);
    await archive(env);
    expect(await rows('select 1 from accidents')).toEqual([]);
    await send(then);
    const late = comparable(await list());
    await archive(env);
    expect(await rows('select 1 from accidents')).toEqual([]);
    const merged = comparable(await list());
    expect([late, merged]).toEqual([inD1, inD1]);
  },
);

it('an archived accident is read by its id: for 31 days after it changed, then with its time', async () => {
  await send({});
  const [inD1] = await list();
  await archive(env);
  const read = (query = '') => as(us.apiToken).get(`/accidents/${inD1?.eventId}${query}`);
  expect((await read()).data).toEqual(inD1);
  await env.DB.exec('delete from archived_lately');
  expect((await read()).status).toBe(404);
  expect((await read(`?at=${eventTime}`)).data).toEqual(inD1);
  expect((await read('?at=9999-12-31T23:59:59.999Z')).status).toBe(404);
});

it('the change feed shows what comes in late as it was put together with what is archived', async () => {
  const read = follower(us.apiToken, { query: 'kinds=accident' });
  await send({ notificationLevel: 1 });
  await archive(env);
  await send({ notificationLevel: 3 });
  await read.catchUp();
  await archive(env);
  await send({ notificationLevel: 1 }); // which is known
  await read.catchUp();
  await archive(env);
  await read.catchUp();
  const data = await list();
  expect(data).toMatchObject([{ levels: [{ notificationLevel: 1 }, { notificationLevel: 3 }] }]);
  expect([...read.copy.values()]).toEqual(data);
});
