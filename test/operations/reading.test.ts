// More than 15 s: 20,000 rows in every table of another account, and a million deliveries.
import { sql } from 'drizzle-orm';
import { notified } from '#src/extras/alerts/pages/overview.tsx';
import { connectionSql } from '#src/extras/providers/connected.ts';
import { readTrends } from '#src/extras/trends/for-overview.ts';
import { spanOf } from '#src/extras/trends/pages/spans.ts';
import { readOverview } from '#src/portal/read/read-overview.ts';
import { attentionOf } from '#src/ui/read/attention.ts';
import {
  addRow,
  addRows,
  driver,
  firstIdAt,
  hourMs,
  issueToken,
  metered,
  openDatabase,
  recordId,
  rows,
  times,
  transaction,
  trip,
  vehicle,
  world,
} from '#test/support.ts';
import { accidentOf, events, expectCost, meteredAccount } from './support.ts';

const { us, send, get, hookFor } = meteredAccount(beforeAll);
let webhookId: string;
beforeAll(async () => {
  webhookId = await hookFor(120);
  await send(...events(120));
  await send(
    ...times(120, (i) => driver({ sourceId: `d${i}` })),
    ...times(120, (i) => trip({ sourceId: `t${i}`, vehicle: 'v1', driver: 'd1' })),
    ...times(120, accidentOf),
  );
  const same = (count: number) =>
    times(count, (i) => vehicle({ sourceId: `same ${i}`, vin: 'SAME1' }));
  await (await world()).send(...same(200));
  await send(...same(1));
  const row = { webhook_id: webhookId, account_id: us.accountId, status: 'failed' };
  await addRows('deliveries', 20_000, (i) => ({ ...row, id: firstIdAt(i + 1) }));
  await get('/connections'); // the hour's note of the token's use
});

it.each<[path: string, shown: number, read: number, trips?: number]>([
  ['/vehicles', 50, 60],
  ['/safety-events?from=2026-11-01&to=2100-01-01', 50, 60],
  ['/trips', 50, 60],
  ['/trips?vehicleIds=VEHICLE', 50, 60],
  ['/trips?driverIds=DRIVER', 50, 60],
  ['/drivers', 50, 60],
  ['/accidents', 50, 60],
  ['/vehicles?vin=SAME1', 1, 10], // which 200 vehicles of another account have
  ['/deliveries?order=newest&webhookId=WEBHOOK&limit=50', 50, 2 * 51 + 20],
  ['/changes?kinds=vehicle', 50, 4 * 50, 2],
])(
  'a page of %s shows %i and reads %i rows at most, as the next does',
  async (path, shown, read, trips = 1) => {
    const idOf = (kind: string, sourceId: string) => recordId(us.connection.id, kind, sourceId);
    const first = path
      .replace('WEBHOOK', webhookId)
      .replace('VEHICLE', idOf('vehicle', 'v1'))
      .replace('DRIVER', idOf('driver', 'd1'));
    const { next, ...page } = await get(first);
    const pages = [page];
    if (next) pages.push(await get(`${first}${first.includes('?') ? '&' : '?'}cursor=${next}`));
    for (const { data, cost } of pages) {
      expect(data).toHaveLength(shown);
      expectCost(cost, { trips, written: 0, queued: 0 }, { read });
    }
  },
);

it('a page of changes with nothing new costs one round trip', async () => {
  const { resume } = await get('/changes?cursor=now');
  const { data, cost } = await get(`/changes?cursor=${resume}`);
  expect(data).toEqual([]);
  expectCost(cost, { trips: 1, written: 0, queued: 0 }, { read: 8 });
});

it('a page reads KV once for each isolate and minute', async () => {
  const { value } = await issueToken(us.accountId);
  const kvReads = async () => (await get('/drivers', value)).cost.kvReads;
  expect([await kvReads(), await kvReads()]).toEqual([1, 0]);
});

describe('the overview of an account with a million events', () => {
  /** The counts of half a year with a million events, of a thousand vehicles, and the events of its last week. */
  async function addEvents(account_id: string, connection_id: string, now: number) {
    const event = { account_id, connection_id, translated_incident_types: '["Speeding"]' };
    await addRows('safety_events', 38_889, (i) => ({
      ...event,
      source_id: i,
      event_risk: 1 + (i % 5),
      started_at: now - i * 15_552,
      vehicle_id: `v${i % 1000}`,
    }));
    const counts = {
      account_id,
      risk_1: 46,
      risk_2: 46,
      risk_3: 46,
      risk_4: 46,
      risk_5: 46,
      types: '{"Speeding": 230}',
      drivers: '{}',
      vehicles: JSON.stringify(Object.fromEntries(times(100, (i) => [`v${i}`, [1, 1]]))),
    };
    const last = Math.floor(now / hourMs) - 3;
    const add = (hours: number, first: number, count: number) =>
      addRows('event_counts', count, (i) => ({ ...counts, hours, start: first - i * hours }));
    await add(1, last, 180 * 24 + 1);
    await add(24, last - (last % 24), 180);
  }

  it('reads a row for each day and the events of the last hours, with a round trip for what is counted', async () => {
    const { accountId, connection } = await world();
    const now = Date.now();
    await addEvents(accountId, connection.id, now);
    const { env, cost } = metered();
    const span = spanOf('UTC', new Date(now).toISOString().slice(0, 10), 90);
    const caller = { accountId, operator: true } as const;
    const read = () =>
      Promise.all([
        readOverview(env, caller, connectionSql, notified),
        readTrends(env, caller, span),
      ]);
    await read();
    const first = { ...cost };
    expect(first.trips).toBe(2);
    await read();
    expect(cost.written).toBe(first.written);
    const [counted] = await rows<{ hours: number; events: number }>(
      `with live (hour) as (select counted_to / 3600000 - 1 from event_counting where account_id = ?1)
       select
         (select count(*) from event_counts where account_id = ?1 and hours = 1 and start >= hour / 24 * 24) as hours,
         (select count(*) from safety_events where account_id = ?1 and started_at >= hour * 3600000) as events
       from live`,
      accountId,
    );
    // 180 days in each of five tables, 100 vehicles of each of 90, and what is counted again: the hours of the day with
    // the vehicles of each, the two that are still going on included, and the events since the hour before this one.
    const { hours = Number.NaN, events = Number.NaN } = { ...counted };
    expect(events).toBeLessThanOrEqual(2 * 232);
    const most = 180 * 5 + 90 * 100 * 2 + (hours + 2) * 2.5 * 100 + events * 17 + 100;
    expect(cost.read - first.read).toBeLessThanOrEqual(most);
  });

  it('and its menu reads what it counts', async () => {
    const { accountId, send } = await world();
    await send(...times(40, accidentOf));
    const { env, cost } = metered();
    const db = openDatabase(env);
    const counts = Object.values(attentionOf(sql`${accountId}`, Date.now(), connectionSql));
    const read = db.all<object>(sql`select ${sql.join(counts, sql`, `)}`);
    const [found] = await transaction(db, read);
    expect(Object.values(found ?? {})).toContain(40);
    expect(cost.read).toBeLessThanOrEqual(40 + 10);
  });
});

const eventId = crypto.randomUUID();

/** A million deliveries, a millisecond apart: delivered ones, and then 10,000 of which half failed and half wait. */
async function insertMillion() {
  await rows('delete from deliveries where webhook_id = ?1', webhookId);
  for (const from of [0, 250_000, 500_000, 750_000])
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       with recursive n (i) as (select ?4 union all select i + 1 from n where i < ?4 + 249999)
       select ?1, format('%08x-%04x-7000-8000-%012x', i >> 16, i & 65535, i), ?2, iif(i = 700000, ?3, 'e'), 0,
         iif(i < 990000, 'delivered', iif(i % 2, 'pending', 'failed')), i from n`,
      ...[webhookId, us.accountId, eventId, from],
    );
  const notification = { event_id: eventId, type: 2, connection_id: us.connection.id, data: '{}' };
  const ours = { account_id: us.accountId, created_at: 700_000 };
  await addRow('notifications', { ...notification, ...ours });
}

it('a page of 50 deliveries reads what it shows of a million, or 1,000', {
  tags: ['proof'],
}, async () => {
  let next: string | undefined;
  const expectPages = async (pages: [query: string, read: number, shown?: number][]) => {
    for (const [query, read, shown = 50] of pages) {
      const reply = await get(
        `/deliveries?${query.replace('NEXT', `cursor=${next}`).replace('OURS', `webhookId=${webhookId}`)}`,
      );
      expect(reply.data, query).toHaveLength(shown);
      expectCost(reply.cost, { trips: 1, written: 0, queued: 0 }, { read });
      ({ next } = reply);
    }
  };
  const day = 'from=1970-01-01T00:10:00Z&to=1970-01-02';
  await insertMillion();
  await expectPages([
    ['', 60],
    ['NEXT', 60],
    [`OURS&${day}`, 60],
    ['status=failed', 60],
    ['status=failed&NEXT', 60],
    ['status=pending', 60],
    ['status=pending&NEXT', 60],
    [`eventId=${eventId}`, 13, 1],
    ['status=cancelled', 3 * 1000 + 10, 0],
  ]);
  // Beside 999 webhooks without deliveries, which sort before it, and each of which is looked at once.
  const ours = { account_id: us.accountId, http_verb: 'POST', notification_types: 3 };
  await addRows('webhooks', 999, (i) => ({ ...ours, id: `0000-${i}`, normalised_url: `${i}` }));
  await expectPages([
    ['', 1000 + 60],
    ['NEXT', 60],
    ['OURS', 60],
    [day, 2 * 1000 + 60],
    ['status=pending', 1000 + 60],
    [`eventId=${eventId}`, 4 * 1000 + 10, 1],
    ['status=cancelled', 4 * 1000 + 10, 0],
  ]);
});
