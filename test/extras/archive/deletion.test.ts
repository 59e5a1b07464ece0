import { env } from 'cloudflare:workers';
import { dateOf } from '#src/extras/archive/bucket.ts';
import { archive } from '#src/extras/archive/job.ts';
import { eraseFromArchive } from '#src/extras/archive/remove.ts';
import { changes } from '#test/extras/changes/support.ts';
import {
  accident,
  ago,
  dayMs,
  driver,
  newId,
  operator,
  recordId,
  rows,
  safetyEvent,
  times,
  toTheEnd,
  trip,
  value,
  vehicle,
  type World,
  worldBefore,
} from '#test/support.ts';
import { emptyArchive, files, insertTrips, move } from './support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara');
const them = worldBefore(beforeEach);
beforeEach(async () => {
  await rows('delete from deletions');
  await emptyArchive();
  for (const { send } of [...us.connections, ...them.connections])
    await send(
      vehicle(),
      driver(),
      trip({ driver: 'driver-1', startedAt: old }),
      safetyEvent({ driver: 'driver-1', startedAt: old }),
    );
  await archive(env);
});

const old = ago(200 * dayMs);
const driverOf = (connectionId: string) => recordId(connectionId, 'driver', 'driver-1');
const trips = async (who: World) => (await who.api.get<object[]>('/trips')).data;

/** Does something that ends, and returns the changes that the feed tells of since before. */
async function changesBy(work: () => Promise<unknown>) {
  const read = (cursor: string) => changes(us.apiToken, `kinds=trip,safetyEvent&cursor=${cursor}`);
  const { resume } = await read('now');
  await work();
  const { data } = await read(resume);
  return data.map(({ kind, action, data }) => `${kind} ${action} ${data?.driverId}`).sort();
}

async function erase(driverId: string) {
  await operator.post(`/operator/drivers/${driverId}/erasure`, {});
  return driverId;
}

it('deleting a connection removes its archive, and shows none of it from then on', async () => {
  const { id } = us.connection;
  expect(await trips(us)).toHaveLength(2);
  const changed = await changesBy(async () => {
    await operator.post(`/operator/connections/${id}/deletion`, { name: 'Motive' });
    expect(await trips(us)).toHaveLength(1);
    await toTheEnd(id);
  });
  expect(changed).toEqual(['safetyEvent deleted undefined', 'trip deleted undefined']);
  expect(await files(id)).toEqual([]);
  expect(await files(us.connections[1]?.id ?? '')).toHaveLength(2);
  expect(await trips(us)).toHaveLength(1);
});

it('erasing a driver takes them from the archive, and leaves the records', async () => {
  const { id } = us.connection;
  const driverId = driverOf(id);
  await us.send(accident({ driver: 'driver-1', eventTime: old }));
  await archive(env);
  const accidents = async () => (await us.api.get('/accidents')).data;
  expect(await accidents()).toMatchObject([{ driverId, driverName: 'Ann' }]);
  const changed = await changesBy(async () => toTheEnd(await erase(driverId)));
  expect(changed).toEqual(['safetyEvent changed null', 'trip changed null']);
  expect((await us.lists.get('/trips')).data).toMatchObject([{ driverId: null }]);
  expect(JSON.stringify(await trips(us))).not.toContain(driverId);
  expect(await accidents()).toMatchObject([{ driverId: null, driverName: null }]);
  expect(await files(id)).toHaveLength(2);
});

it('erasing a driver never stops within a day, whose files may get other names', {
  tags: ['proof'],
}, async () => {
  const driver = newId();
  const seeds = times(22, (i) => ({ startedAt: 10 * dayMs + i, driver }));
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
  it('deletes one that a rewritten one replaced, whose deletion failed without a word', async () => {
    const lost = vi.spyOn(env.ARCHIVE, 'delete').mockResolvedValue();
    const id = await erase(driverOf(us.connection.id));
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
    const id = await erase(driverOf(us.connection.id));
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
