import { env } from 'cloudflare:workers';
import { findByName, listByName } from '#src/extras/search/search.ts';
import { driverFigures } from '#src/extras/trends/drivers.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { currentSpan } from '#src/extras/trends/pages/spans.ts';
import { countByRisk } from '#src/portal/read/activity.ts';
import { deliveriesOf, settled } from '#test/support/deliveries.ts';
import { personBefore, signIn } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { register, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const { get, page, textAt: text } = personBefore(beforeAll, us);
let webhook: string;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
beforeAll(async () => {
  receiver();
  webhook = (await register(us)).id;
  await us.send(
    vehicle({ name: 'truck 2', vin: 'VIN2' }),
    vehicle({ sourceId: 'b', name: 'Truck 10', vin: 'VIN10', licensePlate: 'ZK 10' }),
    vehicle({ sourceId: 'c', name: 'Van 1', vin: null }),
    driver({ name: 'Ann Lee' }),
    driver({ sourceId: 'e', name: 'ann' }),
    driver({ sourceId: 'f', name: 'Bob' }),
    trip({ startedAt: minutesAgo(90), endedAt: minutesAgo(30), driver: 'driver-1' }),
    safetyEvent({ startedAt: minutesAgo(60), driver: 'driver-1', incidentTypes: ['Smoking'] }),
    safetyEvent({ sourceId: 'later', startedAt: minutesAgo(5), incidentTypes: ['Idling'] }),
    accident(),
  );
  await settled(webhook);
});

const named = async (path: string) => (await page(path)).textAt('a.cover');
const idOf = (table: string, sourceId: string) =>
  value<string>(
    `select id from ${table} where account_id = ? and source_id = ?`,
    us.accountId,
    sourceId,
  );
const foundAt = async (q: string) =>
  (await get(`/portal/search?${new URLSearchParams({ q })}`)).headers.get('location');

it('lists have vehicles and drivers by name', async () => {
  expect(await named('/portal/vehicles')).toEqual(['truck 2', 'Truck 10', 'Van 1']);
  expect(await named('/portal/drivers')).toEqual(['ann', 'Ann Lee', 'Bob']);
});

it('lists find vehicles by any word of a name, a plate in any form, or a whole VIN', async () => {
  expect(await named('/portal/vehicles?q=TRUCK')).toEqual(['truck 2', 'Truck 10']);
  expect(await named('/portal/vehicles?q=10')).toEqual(['Truck 10']);
  for (const plate of ['zk', 'ZK10', 'z k-10'])
    expect(await named(`/portal/vehicles?q=${plate}`)).toEqual(['Truck 10']);
  expect(await named('/portal/vehicles?q=vin2')).toEqual(['truck 2']);
  expect(await named('/portal/vehicles?q=VI')).toEqual([]);
  expect(await named('/portal/drivers?q=ann')).toEqual(['ann', 'Ann Lee']);
});

it('lists go on after a page in the order of numbers, and read no more rows in a large account', async () => {
  const them = await world();
  const { page } = await signIn(them);
  await addRows('vehicles', 20_000, (i) => ({
    ...{ account_id: them.accountId, connection_id: them.connection.id, source_id: String(i) },
    ...{
      name: `Truck ${20_000 - i}`,
      status: 'active',
      created_at: 1,
      updated_at: 1,
    },
  }));
  const first = await page('/portal/vehicles');
  const [next = ''] = first.links('Next');
  const listed = [...first.textAt('a.cover'), ...(await page(next)).textAt('a.cover')];
  expect(listed).toEqual(Array.from({ length: 100 }, (_, i) => `Truck ${i + 1}`));
  const caller = { accountId: them.accountId, operator: true } as const;
  const [list, found] = [metered(), metered()];
  await listByName(list.env, caller, 'vehicle', { after: next.split('=')[1], limit: 50 });
  expect(list.cost).toMatchObject({ trips: 1, read: expect.any(Number), written: 0 });
  expect(list.cost.read).toBeLessThanOrEqual(5 * 51 + 20);
  await findByName(found.env, caller, 'truck 0', 20);
  expect(found.cost.read).toBeLessThanOrEqual(10 * 21 + 20);
});

it.each([
  ['driver=ann', 1],
  ['driver=nobody', 0],
  ['vehicle=truck+2', 1],
  ['vehicle=van', 0],
  ['to=2020-01-01', 0],
])('of trips with ?%s there are %d', async (query, count) => {
  expect(await named(`/portal/trips?${query}`)).toHaveLength(count);
});

it('the page of a vehicle has its accidents without its name in each row', async () => {
  await us.send(accident({ sourceId: 'of-truck-2', vin: 'VIN2', eventTime: minutesAgo(7) }));
  const path = `/portal/vehicles/${await idOf('vehicles', 'truck-1')}`;
  const [row] = (await page(path)).textAt('section[aria-labelledby=latest-accidents] tbody tr');
  expect(row).toMatch(/39\.739, −104\.990 Needs attention Level 1/);
  expect(row).not.toContain('truck 2');
});

it('a trip has the events of its vehicle meanwhile', async () => {
  expect(await named(`/portal/trips/${await idOf('trips', 'trip-1')}`)).toEqual(['Smoking']);
});

it('search leads to the only match, by whatever identifies it', async () => {
  const truck = `/portal/vehicles/${await idOf('vehicles', 'b')}`;
  for (const q of ['Truck 10', ' truck 1', 'ZK 10', 'VIN10', 'vin10'])
    expect(await foundAt(q)).toBe(truck);
  expect(await foundAt('bob')).toBe(`/portal/drivers/${await idOf('drivers', 'f')}`);
  const event = await idOf('safety_events', 'event-1');
  expect(await foundAt(event.toUpperCase())).toBe(`/portal/events/${event}`);
  const crash = await value<string>('select id from accidents where account_id = ?', us.accountId);
  expect(await foundAt(crash)).toBe(`/portal/accidents/${crash}`);
  const [delivery] = await deliveriesOf(webhook);
  expect(await foundAt(delivery?.id ?? '')).toBe(
    `/portal/webhooks/${webhook}/deliveries/${delivery?.id}`,
  );
});

it('search lists several by kind, and says when nothing matches', async () => {
  expect(await named('/portal/search?q=t')).toEqual(['truck 2', 'Truck 10']);
  for (const q of ['nothing', crypto.randomUUID(), '%', '_'])
    expect(await text(`/portal/search?${new URLSearchParams({ q })}`)).toContain('Nothing matches');
});

it('search finds nothing of another account, nor of a deleted connection', async () => {
  const them = await world();
  const { textAt } = await signIn(them);
  const ids = [await idOf('vehicles', 'b'), await idOf('safety_events', 'event-1')];
  for (const q of ['Truck 10', 'VIN10', ...ids])
    expect(await textAt(`/portal/search?${new URLSearchParams({ q })}`)).toContain('Nothing');
  await them.send(vehicle({ name: 'Leaving' }));
  await rows(
    `insert into deletions (id, kind, account_id, connection_id, requested_at, due_at) values (?1, 'connection', ?2, ?1, 0, 9e15)`,
    them.connection.id,
    them.accountId,
  );
  expect(await textAt('/portal/search?q=leaving')).toContain('Nothing matches');
  expect(await textAt('/portal/vehicles')).toContain('No vehicles yet');
});

it.each([
  ['vehicles', /Vehicle,VIN,Plate,Make,Model,Year,Connection,/, /\ntruck 2,VIN2,,,,,Motive,/],
  ['drivers', /Driver,Email,Phone,License state,License,Connection,/, /\nAnn Lee,,,,,Motive,/],
  ['trips', /Started \(UTC\),Ended \(UTC\),Vehicle,Driver,Distance \(km\)/, /,truck 2,Ann Lee,/],
])('%s have a CSV file for people', async (kind, head, line) => {
  expect((await page(`/portal/${kind}`)).links('Export CSV')).toEqual([`/portal/${kind}.csv`]);
  const csv = await (await get(`/portal/${kind}.csv`)).text();
  expect(csv).toMatch(head);
  expect(csv).toMatch(line);
});

it('drivers are ranked by events, and by events per 1,000 km, and told apart', async () => {
  const them = await world();
  const { page } = await signIn(them);
  const day = 24 * 60;
  const of = (name: string, km: number, events: number, from = day + 60) => [
    driver({ sourceId: name, name: 'Ann' }),
    trip({ sourceId: name, startedAt: minutesAgo(from), driver: name, distanceKm: km }),
    ...Array.from({ length: events }, (_, i) =>
      safetyEvent({
        ...{ sourceId: `${name} ${i}`, startedAt: minutesAgo(from), driver: name, eventRisk: 4 },
      }),
    ),
  ];
  await them.send(
    vehicle({ name: 'Truck 7' }),
    ...of('often', 2000, 4),
    ...of('rarely', 100, 1),
    ...of('never', 100, 0),
    ...of('long ago', 100, 3, 20 * day),
  );
  await countEvents(env);
  const shown = async (query: string) => (await page(`/portal/drivers${query}`)).textAt('tbody tr');
  expect(await shown('?order=rate&days=7')).toMatchObject([
    expect.stringMatching(/Ann rarely.*Truck 7.* 1 .*10 100 km/),
    expect.stringMatching(/Ann often.*Truck 7.* 4 .*2 2,000 km/),
  ]);
  expect((await shown('?order=events&days=30')).map((row) => row.slice(0, 12))).toMatchObject([
    expect.stringContaining('Ann often'),
    expect.stringContaining('Ann long ago'),
    expect.stringContaining('Ann rarely'),
  ]);
  expect(await shown('')).toHaveLength(4);
  expect((await shown('')).join()).toMatch(/never.*0.*0/);
});

it('a ranking of drivers reads bounded rows, however many trips and drivers there are', async () => {
  const them = await world();
  const { accountId } = them;
  const own = { account_id: accountId, connection_id: them.connection.id };
  await addRows('drivers', 20_000, (i) => ({
    ...{ ...own, source_id: String(i), name: `Ann ${i}`, status: 1, created_at: 1, updated_at: 1 },
  }));
  const span = currentSpan('UTC', 7);
  const { env: bindings, cost } = metered();
  const ids = (await rows('select id from drivers where account_id = ? limit 50', accountId)).map(
    ({ id }) => String(id),
  );
  await driverFigures(bindings, { accountId, operator: true }, span);
  await driverFigures(bindings, { accountId, operator: true }, span, ids);
  expect(cost.read).toBeLessThanOrEqual(500);
});

it('a page of a vehicle reads bounded rows, however many events it has', async () => {
  const id = await idOf('vehicles', 'c');
  await addRows('safety_events', 10_000, (i) => ({
    ...{
      account_id: us.accountId,
      connection_id: us.connection.id,
      source_id: `x${i}`,
      vehicle_id: id,
    },
    ...{ event_risk: 3, started_at: Date.now() - i * 1000, created_at: 1, updated_at: 1 },
  }));
  expect(await text(`/portal/vehicles/${id}`)).toContain('The newest 2,000');
  const { env: bindings, cost } = metered();
  await countByRisk(bindings, { accountId: us.accountId, operator: true }, 'vehicle', id, 0);
  expect(cost.read).toBeLessThanOrEqual(3 * 2000 + 100);
});
