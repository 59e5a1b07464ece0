import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { archive } from '../../../src/fleet/archive/job.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import { follower } from '../../support/follower.ts';
import { accident, safetyEvent, trip, vehicle } from '../../support/records.ts';
import { as, world } from '../../support/world.ts';

type Change = { kind: string; action: string; data: { sourceId: string } | null };

it('the change feed shows what has moved to the archive since it changed', async () => {
  const us = await world();
  const old = new Date(Date.now() - 250 * dayMs).toISOString();
  await as(us.connection.ingestKey).send(
    vehicle(),
    trip({ startedAt: old }),
    safetyEvent({ startedAt: old }),
    safetyEvent({ sourceId: 'recent', startedAt: new Date().toISOString() }),
  );
  const changes = async () => (await as(us.apiToken).get<Change[]>('/changes')).data;
  const before = await changes();
  expect(before.length).toBeGreaterThanOrEqual(4);
  await archive(env);
  expect(await changes()).toEqual(before);
});

it('shows what comes in late as it was put together with what is archived', async () => {
  const us = await world();
  const eventTime = new Date(Date.now() - 250 * dayMs).toISOString();
  const send = (notificationLevel: number) =>
    as(us.connection.ingestKey).send(accident({ eventTime, notificationLevel }));
  const read = follower(us.apiToken, { query: 'kinds=accident' });
  await send(1);
  await archive(env);
  await send(3);
  await read.catchUp();
  await archive(env);
  await send(1); // which is known
  await read.catchUp();
  await archive(env);
  await read.catchUp();
  const { data } = await as(us.apiToken, { 'connection-id': us.connection.id }).get<object[]>('/accidents');
  expect(data).toMatchObject([{ levels: [{ notificationLevel: 1 }, { notificationLevel: 3 }] }]);
  expect([...read.copy.values()]).toEqual(data);
});
