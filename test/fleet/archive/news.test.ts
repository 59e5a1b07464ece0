import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { archive } from '../../../src/fleet/archive/job.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import { safetyEvent, trip, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { story } from '../../support/story.ts';
import { as, call, world } from '../../support/world.ts';

const tale = story();
const notified = async () =>
  (await rows('select event_id from deliveries where account_id = ?1', tale.us.accountId)).length;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

it('records from before the hot days are stored, but notify nobody, archived or not', async () => {
  await tale.register();
  const old = safetyEvent({ startedAt: daysAgo(182) });
  const send = (...records: object[]) => as(tale.us.connection.ingestKey).send(vehicle(), ...records);
  expect((await send(old)).data).toMatchObject({ accepted: 2, rejected: [] });
  await archive(env);
  expect(await rows('select 1 from safety_events')).toEqual([]);
  await send(old);
  await send({ ...old, sourceUpdatedAt: new Date().toISOString(), incidentTypes: ['crash'] });
  expect(await notified()).toBe(0);
  const list = as(tale.us.apiToken, { 'connection-id': tale.us.connection.id });
  const { data } = await list.get(`/safety-events?from=${daysAgo(183)}&to=${daysAgo(0)}`);
  expect(data).toMatchObject([{ incidentTypes: ['crash'] }]);

  await send(safetyEvent({ sourceId: 'recent', startedAt: daysAgo(179) }));
  expect(await notified()).toBe(1);
});

it.each(['180', '0'])(
  'records of archived days notify nobody when there are %s hot days again',
  async (days) => {
    await tale.register();
    const known = safetyEvent({ sourceId: `known ${days}`, startedAt: daysAgo(60) });
    const send = (record: object, hotDays: string) =>
      call('POST', '/ingest', {
        headers: { 'x-api-key': tale.us.connection.ingestKey },
        body: { records: [vehicle(), record] },
        bindings: { ...env, HOT_DAYS: hotDays as '180' },
      });
    await send(known, '45');
    await archive({ ...env, HOT_DAYS: '45' as '180' });
    expect(await rows('select 1 from safety_events')).toEqual([]);
    const before = await notified();
    await send(known, days);
    expect(await notified()).toBe(before);
    await send(safetyEvent({ sourceId: `late ${days}`, startedAt: daysAgo(50) }), days);
    expect(await notified()).toBe(before + 1);
  },
);

it('the change feed shows what has moved to the archive since it changed', async () => {
  const us = await world();
  const old = daysAgo(250);
  await as(us.connection.ingestKey).send(
    vehicle(),
    trip({ startedAt: old }),
    safetyEvent({ startedAt: old }),
    safetyEvent({ sourceId: 'recent', startedAt: daysAgo(0) }),
  );
  const changes = async () => (await as(us.apiToken).get<object[]>('/changes')).data;
  const before = await changes();
  expect(before.length).toBeGreaterThanOrEqual(4);
  await archive(env);
  expect(await changes()).toEqual(before);
});
