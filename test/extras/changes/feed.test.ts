import { env } from 'cloudflare:workers';
import { inArray, sql } from 'drizzle-orm';
import {
  keptMs,
  maxRecordsPerRow,
  pruneChanges,
  recordChange,
} from '#src/core/fleet/record-changes.ts';
import { encodeCursor } from '#src/core/platform/db/cursor.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { maxScanned } from '#src/core/platform/db/pages.ts';
import { drivers } from '#src/core/platform/db/schema/fleet.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { dayMs, hourMs } from '#src/core/platform/durations.ts';
import { archive } from '#src/extras/archive/job.ts';
import { maxRows } from '#src/extras/changes/feed.ts';
import { allChanges, changes, noteOthers } from '#test/extras/changes/support.ts';
import { listPage } from '#test/support/fleet.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { as, invalid, operator, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
let trucks: string;
let vans: string;
beforeEach(async () => {
  [trucks = '', vans = ''] = us.connections.map(({ id }) => id);
});

const sendVan = (...records: object[]) => as(us.connections[1]?.ingestKey ?? '').send(...records);
const get = (query = '', connection?: string) => changes(us.apiToken, query, connection);
const records = 'kinds=driver,vehicle,trip,safetyEvent,accident';
const names = ({ data }: Awaited<ReturnType<typeof get>>) =>
  data.map((change) => change.data?.name);

/** Deletes drivers as a job of the service would. */
const remove = async (ids: string[]) => {
  const db = openDatabase(env);
  const source = { accountId: us.accountId, connectionId: trucks, now: Date.now() };
  await transaction(db, [
    recordChange(db, source, 'deleted', 'driver', ids),
    db.delete(drivers).where(inArray(drivers.id, ids)),
  ]);
};

describe('the feed', () => {
  it('tells of each record as its list shows it, what others refer to first', async () => {
    await us.send(accident(), safetyEvent({ driver: 'driver-1' }), trip(), driver(), vehicle());
    const { data, next } = await get(records);
    expect(data.map(({ kind, action, connectionId }) => [kind, action, connectionId])).toEqual(
      ['driver', 'vehicle', 'trip', 'safetyEvent', 'accident'].map((kind) => [
        kind,
        'changed',
        trucks,
      ]),
    );
    const [range, from] = ['from=2000-01-01&to=2100-01-01', { 'connection-id': trucks }];
    const lists = ['/drivers', '/vehicles', '/trips', `/safety-events?${range}`, '/accidents'];
    for (const [i, path] of lists.entries())
      expect((await as(us.apiToken, from).get(path)).data).toEqual([data[i]?.data]);
    expect(next).toBeUndefined();
  });

  it('tells of what changed only, in the order in which it came in', async () => {
    await us.send(driver(), vehicle());
    await us.send(driver({ sourceId: 'b', name: 'Bob' }));
    const { resume } = await get(records);
    await us.send(driver(), vehicle(), driver({ sourceId: 'b', name: 'Bob' }));
    expect(await get(`${records}&cursor=${resume}`)).toMatchObject({ data: [] });
    await us.send(driver({ name: 'Anna' }), driver({ sourceId: 'b', name: 'Bob' }), vehicle());
    await us.send(driver({ sourceId: 'c', name: 'Cid' }));
    expect(names(await get(`${records}&cursor=${resume}`))).toEqual(['Anna', 'Cid']);
  });

  it('tells of late and corrected events, and leaves out older versions', async () => {
    const { resume } = await get('cursor=now');
    const version = (eventRisk: number, day: number) =>
      safetyEvent({
        eventRisk,
        startedAt: '2020-01-01T00:00:00Z',
        sourceUpdatedAt: `2026-11-0${day}T00:00:00Z`,
      });
    await us.send(vehicle(), version(2, 2));
    const events = `kinds=safetyEvent&cursor=${(await get('kinds=safetyEvent&cursor=now')).resume}`;
    expect((await get(events)).data).toEqual([]);
    await us.send(version(5, 3));
    await us.send(version(1, 1));
    expect((await get(events)).data.map(({ data }) => data?.eventRisk)).toEqual([5]);
    expect((await get(`cursor=${resume}`)).data.map(({ kind }) => kind)).toEqual([
      'vehicle',
      'safetyEvent',
    ]);
  });

  it('tells once a page of a record that changed several times, as it is now', async () => {
    await us.send(driver());
    await us.send(driver({ sourceId: 'b', name: 'Bob' }));
    await us.send(driver({ name: 'Anna' }));
    expect(names(await get(records))).toEqual(['Anna', 'Bob']);
    const first = await get(`${records}&limit=1`);
    expect(names(first)).toEqual(['Anna']);
    const second = await get(`${records}&limit=1&cursor=${first.next}`);
    expect(names(second)).toEqual(['Bob']);
    expect(names(await get(`${records}&limit=1&cursor=${second.next}`))).toEqual(['Anna']);
  });

  it('tells of deletions, and of what came back after one', async () => {
    await us.send(driver(), driver({ sourceId: 'b', name: 'Bob' }));
    const { data, resume } = await get(records);
    const [ann = '', bob = ''] = data.map(({ id }) => id);
    await remove([ann, bob]);
    const gone = await get(`${records}&cursor=${resume}`);
    expect(gone.data).toEqual(
      [ann, bob].map((id) => ({
        kind: 'driver',
        id,
        connectionId: trucks,
        action: 'deleted',
        data: null,
      })),
    );
    await us.send(driver());
    expect((await get(`${records}&cursor=${resume}`)).data).toMatchObject([
      { id: ann, action: 'changed', data: { name: 'Ann' } },
      { id: bob, action: 'deleted', data: null },
    ]);
    // Who has not yet come to the deletion is told of it when they do.
    const first = await get(`${records}&limit=1`);
    expect(first.data).toMatchObject([{ id: ann, action: 'changed' }]);
    const all = await allChanges(us.apiToken, `${records}&limit=1`);
    expect(all.findLast(({ id }) => id === bob)).toMatchObject({ action: 'deleted' });
    expect(all.findLast(({ id }) => id === ann)).toMatchObject({ action: 'changed' });
  });

  it('tells of connections that are added, renamed or unwell', async () => {
    expect((await get('kinds=connection')).data.map(({ id }) => id)).toEqual([trucks, vans]);
    const { resume } = await get('kinds=connection&cursor=now');
    await operator.patch(`/operator/connections/${vans}`, { name: 'City vans', healthStatus: 3 });
    const { data } = await get(`kinds=connection&cursor=${resume}`);
    const { data: connections } = await listPage(us.apiToken, '/connections');
    expect(data).toEqual([
      { kind: 'connection', id: vans, connectionId: vans, action: 'changed', data: connections[1] },
    ]);
    expect(data[0]?.data).toMatchObject({ name: 'City vans', healthStatus: 3 });
  });
});

describe('narrowed to', () => {
  it('kinds, it tells of these alone', async () => {
    await us.send(driver(), vehicle(), trip());
    expect((await get('kinds=trip&kinds=driver')).data.map(({ kind }) => kind)).toEqual([
      'driver',
      'trip',
    ]);
    expect(await get('kinds=drivers')).toMatchObject({ status: 400, errors: [{ field: 'kinds' }] });
  });

  it('a connection, it tells of that alone', async () => {
    await us.send(driver());
    await sendVan(driver({ name: 'Bob' }));
    expect(names(await get(records, vans))).toEqual(['Bob']);
    expect(names(await get(records))).toEqual(['Ann', 'Bob']);
    expect(await get(records, 'x')).toMatchObject({
      status: 400,
      errors: [{ field: 'Connection-Id' }],
    });
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
    if (query) await them.send(driver({ sourceId: 'b', name: 'Bob' }));
    else await rows('delete from changes where account_id = ?1', them.accountId);
    const first = await changes(them.apiToken, query);
    expect(first).toMatchObject({ status: 200, data: [], resume: expect.any(String) });
    expect(first.next).toBeUndefined();
    const again = await changes(them.apiToken, `cursor=${first.resume}`);
    expect(again).toMatchObject({ data: [], resume: expect.any(String) });
    await them.send(driver());
    for (const { resume } of [first, again])
      expect(names(await changes(them.apiToken, `cursor=${resume}`))).toEqual(['Ann']);
  });

  it('does not expire while nothing happens', async () => {
    await rows('update changes set seq = seq - 29 * 86400000 where account_id = ?1', us.accountId);
    const { resume } = await get();
    const [at] = JSON.parse(atob(resume.replaceAll('-', '+').replaceAll('_', '/'))).slice(1);
    expect(Date.now() - at).toBeLessThan(2 * 86_400_000);
  });

  it('older than 30 days is refused, with what to do', async () => {
    const identity = JSON.stringify(['/changes', us.accountId, undefined, undefined]);
    const from = (age: number) => get(`cursor=${encodeCursor([Date.now() - age], identity)}`);
    expect((await from(keptMs - hourMs)).status).toBe(200);
    expect(await from(keptMs + hourMs)).toMatchObject({
      ...invalid('Cursor has expired, list everything again'),
      errors: [{ field: 'cursor', message: expect.stringContaining('cursor=now') }],
    });
  });

  it('of another account, connection or other kinds is none', async () => {
    const them = await world();
    const { resume } = await get(records);
    for (const reply of [
      await changes(them.apiToken, `${records}&cursor=${resume}`),
      await get(`${records}&cursor=${resume}`, trucks),
      await get(`kinds=driver&cursor=${resume}`),
      await get(`cursor=${resume}`),
      await get(`${records}&cursor=${resume.slice(1)}`),
    ])
      expect(reply).toMatchObject(invalid('Invalid cursor', 'cursor'));
    expect(
      (await get(`kinds=safetyEvent,trip&kinds=accident,vehicle,driver&limit=7&cursor=${resume}`))
        .status,
    ).toBe(200);
  });
});

it('a page covers so many calls at most, and goes on', async () => {
  await noteOthers(us, maxRows);
  await us.send(driver());
  const first = await get();
  expect(first.data.filter(({ kind }) => kind === 'driver')).toEqual([]);
  expect(first.next).toBeDefined();
  const all = await allChanges(us.apiToken, '');
  expect(all.map(({ data }) => data?.name)).toContain('Ann');
});

it('a page ends within a call where it is full, by number or by size', async () => {
  const many = Array.from({ length: 5 }, (_, i) => driver({ sourceId: `d${i}`, name: `${i}` }));
  await us.send(...many);
  const read = async (limit: number) => {
    const pages: unknown[][] = [];
    let cursor = '';
    for (let more: string | undefined = 'yes'; more; ) {
      const page = await get(`kinds=driver&limit=${limit}${cursor}`);
      pages.push(names(page));
      more = page.next;
      cursor = `&cursor=${page.resume}`;
    }
    return pages;
  };
  expect(await read(2)).toEqual([['0', '1'], ['2', '3'], ['4']]);
  await rows(
    `update drivers set phone = ?1 where account_id = ?2`,
    'x'.repeat(400_000),
    us.accountId,
  );
  expect(await read(500)).toEqual([['0', '1'], ['2', '3'], ['4']]);
});

describe('what is noted', () => {
  const noted = () =>
    rows('select * from changes where account_id = ?1 order by seq', us.accountId);

  it('is one row for a call, and none for one that changes nothing', async () => {
    const before = (await noted()).length;
    await us.send(driver(), vehicle(), trip(), { kind: 'driver' });
    expect(await noted()).toHaveLength(before + 1);
    await us.send(driver(), vehicle(), trip());
    await us.send(trip({ sourceId: 'x', vehicle: 'unknown' }));
    expect(await noted()).toHaveLength(before + 1);
  });

  it('has higher numbers the later it is committed, whatever the clocks say', async () => {
    await rows('update changes set seq = seq + 100000 where account_id = ?1', us.accountId);
    const { resume } = await get(records);
    await us.send(driver());
    expect(names(await get(`${records}&cursor=${resume}`))).toEqual(['Ann']);
    const all = (await noted()).map(({ seq }) => Number(seq));
    expect(all.at(-1)).toBe(Math.max(...all.slice(0, -1)) + 1);
  });

  it('of many records at once is split, so that a page never reads too much', async () => {
    const count = 2 * maxRecordsPerRow + 1;
    const db = openDatabase(env);
    const source = { accountId: us.accountId, connectionId: trucks, now: Date.now() };
    const ids = sql`(
      with recursive n (id) as (select 1 union all select id + 1 from n where id < ${count})
      select id from n)`;
    const before = (await noted()).length;
    await transaction(db, [recordChange(db, source, 'deleted', 'trip', ids)]);
    const sizes = (await noted())
      .slice(before)
      .map(({ records }) => JSON.parse(String(records)).trip.length);
    expect(sizes).toEqual([maxRecordsPerRow, maxRecordsPerRow, 1]);
    const none = sql`(select id from trips where id = 'none')`;
    await transaction(db, [recordChange(db, source, 'deleted', 'trip', none)]);
    expect(await noted()).toHaveLength(before + 3);
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
  const startedAt = new Date(Date.now() - 250 * dayMs).toISOString();
  await us.send(
    vehicle(),
    trip({ startedAt }),
    safetyEvent({ startedAt }),
    safetyEvent({ sourceId: 'recent', startedAt: new Date().toISOString() }),
  );
  const all = async () => (await us.api.get<object[]>('/changes')).data;
  const before = await all();
  expect(before.length).toBeGreaterThanOrEqual(4);
  await archive(env);
  expect(await all()).toEqual(before);
});
