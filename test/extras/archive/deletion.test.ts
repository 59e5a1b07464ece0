import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { dateOf } from '#src/extras/archive/bucket.ts';
import { archive } from '#src/extras/archive/job.ts';
import { eraseFromArchive } from '#src/extras/archive/remove.ts';
import { bucket, emptyArchive, insertTrips, move } from '#test/extras/archive/support.ts';
import { changes } from '#test/extras/changes/support.ts';
import { toTheEnd } from '#test/support/erasure.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { as, operator, type World, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
const them = worldBefore(beforeEach);
beforeEach(async () => {
  await rows('delete from deletions');
  await emptyArchive();
  for (const { ingestKey } of [...us.connections, ...them.connections])
    await as(ingestKey).send(
      vehicle(),
      driver(),
      trip({ driver: 'driver-1', startedAt: old }),
      safetyEvent({ driver: 'driver-1', startedAt: old }),
    );
  await archive(env);
});

const old = new Date(Date.now() - 200 * dayMs).toISOString();
const files = async (part: string) =>
  (await bucket.list()).objects.filter(({ key }) => key.includes(part)).map(({ key }) => key);
const driverOf = (connectionId: string) =>
  value<string>('select id from drivers where connection_id = ?1', connectionId);
const trips = async (who: World) => (await who.api.get<object[]>('/trips')).data;

async function changesAfter(cursor: string) {
  const { data, resume } = await changes(us.apiToken, `kinds=trip,safetyEvent&cursor=${cursor}`);
  return {
    changes: data.map(({ kind, action, data }) => [kind, action, data?.driverId ?? null]),
    resume,
  };
}

it('deleting a connection removes its archive, and shows none of it from then on', async () => {
  const id = us.connection.id;
  expect(await trips(us)).toHaveLength(2);
  const { resume } = await changesAfter('now');
  await operator.post(`/operator/connections/${id}/deletion`, { name: 'Motive' });
  expect(await trips(us)).toHaveLength(1);
  await toTheEnd(id);
  expect(await files(id)).toEqual([]);
  expect(await files(us.connections[1]?.id ?? '')).toHaveLength(2);
  expect(await trips(us)).toHaveLength(1);
  expect((await changesAfter(resume)).changes.sort()).toEqual([
    ['safetyEvent', 'deleted', null],
    ['trip', 'deleted', null],
  ]);
});

it('erasing a driver takes them from the archive, and leaves the records', async () => {
  const { id } = us.connection;
  const driverId = await driverOf(id);
  await us.send(accident({ driver: 'driver-1', eventTime: old }));
  await archive(env);
  const accidents = async () =>
    (await us.api.get<{ driverId: string | null; driverName: string | null }[]>('/accidents')).data;
  expect(await accidents()).toMatchObject([{ driverId, driverName: 'Ann' }]);
  const { resume } = await changesAfter('now');
  await operator.post(`/operator/drivers/${driverId}/erasure`, {});
  await toTheEnd(driverId);
  expect((await changesAfter(resume)).changes.sort()).toEqual([
    ['safetyEvent', 'changed', null],
    ['trip', 'changed', null],
  ]);
  const left = await as(us.apiToken, { 'connection-id': id }).get('/trips');
  expect(left.data).toMatchObject([{ driverId: null }]);
  expect((await trips(us)).filter((item) => JSON.stringify(item).includes(driverId))).toEqual([]);
  expect(await accidents()).toMatchObject([{ driverId: null, driverName: null }]);
  expect(await files(id)).toHaveLength(2);
});

it('erasing a driver never stops within a day, whose files may get other names', async () => {
  const driver = newId();
  const seeds = Array.from({ length: 22 }, (_, i) => ({ startedAt: 10 * dayMs + i, driver }));
  await insertTrips(us, seeds);
  await move(us, 10 * dayMs, { sizes: { part: 1, group: 1 } });
  const known = new Set<string>();
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    known.add(cursor);
    cursor = await eraseFromArchive(env, us, driver, cursor);
    const passed = (await files('date=1970-01-11')).map((key) => key < (cursor ?? '~'));
    expect(new Set(passed).size).toBe(1);
  }
  expect(known.size).toBeGreaterThan(2);
  expect(await files('date=1970-01-11')).toHaveLength(22);
  expect(JSON.stringify(await trips(us))).not.toContain(driver);
});

describe('erasing a driver of whom a file remains that the catalog does not name', () => {
  const erase = async () => {
    const id = await driverOf(us.connection.id);
    await operator.post(`/operator/drivers/${id}/erasure`, {});
    return id;
  };

  it('deletes one that a rewritten one replaced, whose deletion failed without a word', async () => {
    const lost = vi.spyOn(env.ARCHIVE, 'delete').mockResolvedValue();
    const id = await erase();
    for (let i = 0; i < 5; i++) await operator.post(`/operator/deletions/${id}/continue`, {});
    expect(await deletionOf(id)).toMatchObject({ id });
    expect(await files(us.connection.id)).toHaveLength(3);
    lost.mockRestore();
    await toTheEnd(id);
    expect(await files(us.connection.id)).toHaveLength(2);
  });

  it('is not done before an operator has repaired a day that only the bucket knows', async () => {
    const forget =
      "delete from archived_days where kind = 'trips' and connection_id = ?1 returning day";
    const day = await value<number>(forget, us.connection.id);
    const id = await erase();
    await operator.post(`/operator/deletions/${id}/continue`, {});
    const problem = expect.stringContaining('the catalog does not name it');
    expect(await deletionOf(id)).toMatchObject({ step: 'archive', problem });
    const repair = { kind: 'trips', date: dateOf(day), apply: true };
    await operator.post(`/operator/connections/${us.connection.id}/archive/repair`, repair);
    await toTheEnd(id);
    expect(await files(us.connection.id)).toHaveLength(2);
    expect(JSON.stringify(await us.api.get('/trips'))).not.toContain(id);
  });
});

const deletionOf = async (id: string) =>
  (await rows('select id, step, problem from deletions where id = ?1', id))[0];
