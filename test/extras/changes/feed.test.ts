import { env } from 'cloudflare:workers';
import { inArray, type SQL, sql } from 'drizzle-orm';
import {
  keptMs,
  maxRecordsPerRow,
  pruneChanges,
  recordChange,
} from '#src/core/fleet/record-changes.ts';
import { encodeCursor } from '#src/core/platform/db/cursor.ts';
import { maxScanned } from '#src/core/platform/db/pages.ts';
import { drivers } from '#src/core/platform/db/schema/fleet.ts';
import { archive } from '#src/extras/archive/job.ts';
import { maxRows } from '#src/extras/changes/feed.ts';
import {
  accident,
  ago,
  allPages,
  changeConnection,
  dayMs,
  driver,
  hourMs,
  invalid,
  metered,
  openDatabase,
  ownRows,
  rows,
  safetyEvent,
  transaction,
  trip,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';
import { allChanges, changes, noteOthers } from './support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara');
const db = openDatabase(env);
let trucks: string;
let vans: string;
beforeEach(async () => {
  [trucks = '', vans = ''] = us.connections.map(({ id }) => id);
});

const get = (query = '', connection?: string) => changes(us.apiToken, query, connection);
const records = 'kinds=driver,vehicle,trip,safetyEvent,accident';
/** What has happened since. */
const since = (resume: string) => get(`${records}&cursor=${resume}`);
const names = ({ data }: Awaited<ReturnType<typeof get>>) =>
  data.map((change) => change.data?.name);

/** Deletes drivers as a job of the service would. */
const remove = (ids: string[]) =>
  transaction(db, [note('driver', ids), db.delete(drivers).where(inArray(drivers.id, ids))]);

/** Notes deletions of our trucks as a job does. */
const note = (kind: 'driver' | 'trip', ids: string[] | SQL) => {
  const source = { accountId: us.accountId, connectionId: trucks, now: Date.now() };
  return recordChange(db, source, 'deleted', kind, ids);
};

describe('the feed', () => {
  it('tells of each record as its list shows it, what others refer to first', async () => {
    await us.send(accident(), safetyEvent({ driver: 'driver-1' }), trip(), driver(), vehicle());
    const { data, next } = await get(records);
    const range = 'from=2000-01-01&to=2100-01-01';
    const expected = [];
    for (const [kind, path] of Object.entries({
      driver: '/drivers',
      vehicle: '/vehicles',
      trip: '/trips',
      safetyEvent: `/safety-events?${range}`,
      accident: '/accidents',
    })) {
      const [listed] = (await us.lists.get<object[]>(path)).data;
      const of = { id: expect.any(String), connectionId: trucks, action: 'changed' };
      expected.push({ kind, ...of, data: listed });
    }
    expect([data, next]).toEqual([expected, undefined]);
  });

  it('tells of what changed only, in the order in which it came in', async () => {
    const bob = driver({ sourceId: 'b', name: 'Bob' });
    await us.send(driver(), vehicle());
    await us.send(bob);
    const { resume } = await get(records);
    await us.send(driver(), vehicle(), bob);
    expect(await since(resume)).toMatchObject({ data: [] });
    await us.send(driver({ name: 'Anna' }), bob, vehicle());
    await us.send(driver({ sourceId: 'c', name: 'Cid' }));
    expect(names(await since(resume))).toEqual(['Anna', 'Cid']);
  });

  it('tells of late and corrected events, and leaves out older versions', async () => {
    const { resume } = await get('cursor=now');
    const send = (eventRisk: number, day: number) =>
      us.send(
        vehicle(),
        safetyEvent({
          eventRisk,
          startedAt: '2020-01-01T00:00:00Z',
          sourceUpdatedAt: `2026-11-0${day}T00:00:00Z`,
        }),
      );
    await send(2, 2);
    const events = `kinds=safetyEvent&cursor=${(await get('kinds=safetyEvent&cursor=now')).resume}`;
    expect((await get(events)).data).toEqual([]);
    await send(5, 3);
    await send(1, 1);
    expect((await get(events)).data).toMatchObject([{ data: { eventRisk: 5 } }]);
    const all = (await get(`cursor=${resume}`)).data.map(({ kind }) => kind);
    expect(all).toEqual(['vehicle', 'safetyEvent']);
  });

  it('tells once a page of a record that changed several times, as it is now', async () => {
    await us.send(driver());
    await us.send(driver({ sourceId: 'b', name: 'Bob' }));
    await us.send(driver({ name: 'Anna' }));
    expect(names(await get(records))).toEqual(['Anna', 'Bob']);
    const one = await allChanges(us.apiToken, `${records}&limit=1`);
    expect(one.map(({ data }) => data?.name)).toEqual(['Anna', 'Bob', 'Anna']);
  });

  it('tells of deletions, and of what came back after one', async () => {
    await us.send(driver(), driver({ sourceId: 'b', name: 'Bob' }));
    const { data, resume } = await get(records);
    const [ann = '', bob = ''] = data.map(({ id }) => id);
    await remove([ann, bob]);
    const gone = { kind: 'driver', connectionId: trucks, action: 'deleted', data: null };
    const news = async () => (await since(resume)).data;
    expect(await news()).toEqual([ann, bob].map((id) => ({ ...gone, id })));
    await us.send(driver());
    expect(await news()).toMatchObject([
      { id: ann, action: 'changed', data: { name: 'Ann' } },
      { id: bob, action: 'deleted', data: null },
    ]);
    // Who has not yet come to the deletion is told of it when they do.
    const all = await allChanges(us.apiToken, `${records}&limit=1`);
    expect(all[0]).toMatchObject({ id: ann, action: 'changed' });
    expect(all.findLast(({ id }) => id === bob)).toMatchObject({ action: 'deleted' });
    expect(all.findLast(({ id }) => id === ann)).toMatchObject({ action: 'changed' });
  });

  it('tells of connections that are added, renamed or unwell', async () => {
    expect((await get('kinds=connection')).data.map(({ id }) => id)).toEqual([trucks, vans]);
    const { resume } = await get('kinds=connection&cursor=now');
    const changes = { name: 'City vans', healthStatus: 3 };
    await changeConnection(vans, changes);
    const [, data] = (await us.api.get<object[]>('/connections')).data;
    expect(data).toMatchObject(changes);
    expect((await get(`kinds=connection&cursor=${resume}`)).data).toEqual([
      { kind: 'connection', id: vans, connectionId: vans, action: 'changed', data },
    ]);
  });
});

describe('narrowed to', () => {
  it('kinds, it tells of these alone', async () => {
    await us.send(driver(), vehicle(), trip());
    const kinds = (await get('kinds=trip&kinds=driver')).data.map(({ kind }) => kind);
    expect(kinds).toEqual(['driver', 'trip']);
  });

  it('a connection, it tells of that alone', async () => {
    await us.send(driver());
    await us.connections[1]?.send(driver({ name: 'Bob' }));
    expect(names(await get(records, vans))).toEqual(['Bob']);
    expect(names(await get(records))).toEqual(['Ann', 'Bob']);
  });

  it('what is rare, it looks through 1,000 rows a page, and never loses its place', async () => {
    await noteOthers(us, maxScanned);
    await us.send(driver());
    const none = await get('kinds=driver');
    expect(none.data).toEqual([]);
    expect(none.next).toBe(none.resume);
    expect(names(await get(`kinds=driver&cursor=${none.next}`))).toEqual(['Ann']);
  });
});

describe('a cursor', () => {
  it.each(['', 'cursor=now'])('to resume with is there from the start: %s', async (query) => {
    const them = await world();
    const read = (query: string) => changes(them.apiToken, query);
    if (query) await them.send(driver({ sourceId: 'b', name: 'Bob' }));
    else await rows('delete from changes where account_id = ?1', them.accountId);
    const first = await read(query);
    expect([first.data, first.next]).toEqual([[], undefined]);
    const again = await read(`cursor=${first.resume}`);
    expect(again.data).toEqual([]);
    await them.send(driver());
    for (const { resume } of [first, again])
      expect(names(await read(`cursor=${resume}`))).toEqual(['Ann']);
  });

  it('does not expire while nothing happens', async () => {
    await rows('update changes set seq = seq - 29 * 86400000 where account_id = ?1', us.accountId);
    const { resume } = await get();
    const [at] = JSON.parse(atob(resume.replaceAll('-', '+').replaceAll('_', '/'))).slice(1);
    expect(Date.now() - at).toBeLessThan(2 * 86_400_000);
  });

  it('older than 30 days is refused', async () => {
    const identity = JSON.stringify(['/changes', us.accountId, undefined, undefined]);
    const from = async (age: number) =>
      (await get(`cursor=${encodeCursor([Date.now() - age], identity)}`)).message;
    expect(await from(keptMs - hourMs)).toBe('Changes');
    expect(await from(keptMs + hourMs)).toBe('Cursor has expired, list everything again');
  });

  it('of another account, connection or other kinds is none', async () => {
    const { resume } = await get(records);
    const at = `cursor=${resume}`;
    for (const reply of [
      await changes((await world()).apiToken, `${records}&${at}`),
      await get(`${records}&${at}`, trucks),
      await get(`kinds=driver&${at}`),
      await get(at),
      await get(`${records}&cursor=${resume.slice(1)}`),
    ])
      expect(reply).toMatchObject(invalid('Invalid cursor', 'cursor'));
    const inAnotherOrder = 'kinds=safetyEvent,trip&kinds=accident,vehicle,driver&limit=7';
    expect((await get(`${inAnotherOrder}&${at}`)).status).toBe(200);
  });
});

it('a page covers so many calls at most, and goes on', async () => {
  await noteOthers(us, maxRows);
  await us.send(driver());
  const first = await get();
  expect(names(first)).not.toContain('Ann');
  const all = await allChanges(us.apiToken, '');
  expect(all.map(({ data }) => data?.name)).toContain('Ann');
});

it('a page ends within a call where it is full, by number or by size', async () => {
  await us.send(...[0, 1, 2, 3, 4].map((i) => driver({ sourceId: `d${i}`, name: `${i}` })));
  const read = async (limit: number) => {
    const pages = await allPages((cursor = '') =>
      get(`kinds=driver&limit=${limit}&cursor=${cursor}`),
    );
    return pages.map(names);
  };
  const expected = [['0', '1'], ['2', '3'], ['4']];
  expect(await read(2)).toEqual(expected);
  const phone = 'x'.repeat(400_000);
  await rows(`update drivers set phone = ?1 where account_id = ?2`, phone, us.accountId);
  expect(await read(500)).toEqual(expected);
});

describe('what is noted', () => {
  const noted = () => ownRows(us, 'changes');

  it('is nothing of a call that changes nothing', async () => {
    await us.send(driver(), vehicle(), trip());
    const before = await noted();
    await us.send(driver(), vehicle(), trip());
    await us.send(trip({ sourceId: 'x', vehicle: 'unknown' }), { kind: 'driver' });
    expect(await noted()).toEqual(before);
  });

  it('has higher numbers the later it is committed, whatever the clocks say', async () => {
    await rows('update changes set seq = seq + 100000 where account_id = ?1', us.accountId);
    const { resume } = await get(records);
    await us.send(driver());
    expect(names(await since(resume))).toEqual(['Ann']);
    const all = (await noted()).map(({ seq }) => Number(seq));
    expect(all.at(-1)).toBe(Math.max(...all.slice(0, -1)) + 1);
  });

  it('of many records at once is split, so that a page never reads too much', async () => {
    const count = 2 * maxRecordsPerRow + 1;
    const before = (await noted()).length;
    await transaction(db, [
      note(
        'trip',
        sql`(
          with recursive n (id) as (select 1 union all select id + 1 from n where id < ${count})
          select id from n)`,
      ),
      note('trip', sql`(select id from trips where id = 'none')`),
    ]);
    const added = (await noted()).slice(before);
    const sizes = added.map(({ records }) => JSON.parse(String(records)).trip.length);
    expect(sizes).toEqual([maxRecordsPerRow, maxRecordsPerRow, 1]);
  });
});

it('changes older than 30 days are deleted, and no others, without reading those', async () => {
  await rows('delete from changes');
  const now = Date.now();
  /** A minute apart: some from before what is kept, and others. */
  const insert = (accountId: string, old: number, young: number) =>
    rows(
      `with recursive n (i) as (select -?2 union all select i + 1 from n where i < ?3)
       insert into changes (account_id, seq, connection_id, action, records)
       select ?1, ?4 + i * 60000, 'c', 'changed', '{}' from n where i <> 0`,
      accountId,
      old,
      young,
      now - keptMs,
    );
  for (let account = 0; account < 20; account++)
    await insert(`account ${account}`, account % 2 ? 10 : 0, 500);
  const { env: bindings, cost } = metered();
  expect(await pruneChanges(bindings, now)).toBe(100);
  expect(cost.trips).toBe(1);
  expect(cost.read).toBeLessThanOrEqual(4 * 100 + 8 * 20);
  expect(await rows('select count(*) as n from changes')).toEqual([{ n: 20 * 500 }]);
});

it('the change feed shows what has moved to the archive since it changed', async () => {
  const startedAt = ago(250 * dayMs);
  const recent = safetyEvent({ sourceId: 'recent' });
  await us.send(vehicle(), trip({ startedAt }), safetyEvent({ startedAt }), recent);
  const before = (await get()).data;
  await archive(env);
  expect((await get()).data).toEqual(before);
  expect((await get(records)).data).toHaveLength(4);
});
