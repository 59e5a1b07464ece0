import { env } from 'cloudflare:workers';
import { countEvents } from '#src/extras/trends/job.ts';
import {
  accident,
  addRows,
  deliveriesOf,
  driver,
  metered,
  operator,
  type Person,
  personBefore,
  receiver,
  recordId,
  register,
  safetyEvent,
  settled,
  signIn,
  times,
  trip,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { get, page, textAt: text } = ann;
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
/** How many rows a page reads. */
async function readBy({ get }: Pick<Person, 'get'>, path: string) {
  const { env: bindings, cost } = metered();
  expect((await get(path, { bindings })).status).toBe(200);
  return cost.read;
}
const idOf = (kind: string, sourceId: string) => recordId(us.connection.id, kind, sourceId);
const foundAt = async (q: string) =>
  (await get(`/portal/search?${new URLSearchParams({ q })}`)).headers.get('location');

it.each([
  ['vehicles', ['truck 2', 'Truck 10', 'Van 1']],
  ['drivers', ['ann', 'Ann Lee', 'Bob']],
  ['vehicles?q=10', ['Truck 10']],
  ['vehicles?q=z k-10', ['Truck 10']],
  ['vehicles?q=vin2', ['truck 2']],
  ['vehicles?q=VI', []],
  ['drivers?q=ann', ['ann', 'Ann Lee']],
  ['trips?driver=ann&vehicle=truck+2', ['']],
  ['trips?driver=nobody', []],
  ['trips?vehicle=van', []],
])('the list of %s has %o', async (path, names) => {
  const shown = await named(`/portal/${path}`);
  expect(path.startsWith('trips') ? shown.map(() => '') : shown).toEqual(names);
});

it('lists go on after a page in the order of numbers, and read no more rows in a large account', async () => {
  const us = await world();
  const them = await signIn(us);
  const { page } = them;
  await addRows('vehicles', 20_000, (i) => ({
    account_id: us.accountId,
    connection_id: us.connection.id,
    name: `Truck ${20_000 - i}`,
    status: 'active',
  }));
  const first = await page('/portal/vehicles');
  const [next = ''] = first.links('Next');
  const listed = [...first.textAt('a.cover'), ...(await page(next)).textAt('a.cover')];
  expect(listed).toEqual(times(100, (i) => `Truck ${i + 1}`));
  expect(await readBy(them, next)).toBeLessThanOrEqual(5 * 51 + 20);
  expect(await readBy(them, '/portal/search?q=truck+0')).toBeLessThanOrEqual(10 * 21 + 20);
});

it.each([
  ['vehicles?q=t', 'Vehicles that match “t”: 2.'],
  ['drivers?q=x', 'Drivers that match “x”: none.'],
])('screen readers say how many %s has, not all of them', async (path, said) =>
  expect((await page(`/portal/${path}`)).textAt('main [role=status]')).toEqual([said]),
);

it('the page of a vehicle has its accidents without its name in each row', async () => {
  await us.send(accident({ sourceId: 'of-truck-2', vin: 'VIN2', eventTime: minutesAgo(7) }));
  const path = `/portal/vehicles/${idOf('vehicle', 'truck-1')}`;
  const [row] = (await page(path)).textAt('section[aria-labelledby=latest-accidents] tbody tr');
  expect(row).toMatch(/39\.739, −104\.990 Needs attention Level 1/);
  expect(row).not.toContain('truck 2');
});

it('a trip has the events of its vehicle meanwhile', async () => {
  expect(await named(`/portal/trips/${idOf('trip', 'trip-1')}`)).toEqual(['Smoking']);
});

it('search leads to the only match, by whatever identifies it', async () => {
  const truck = `/portal/vehicles/${idOf('vehicle', 'b')}`;
  for (const q of [' truck 1', 'ZK 10', 'vin10']) expect(await foundAt(q)).toBe(truck);
  expect(await foundAt('bob')).toBe(`/portal/drivers/${idOf('driver', 'f')}`);
  const event = idOf('safetyEvent', 'event-1');
  expect(await foundAt(event.toUpperCase())).toBe(`/portal/events/${event}`);
  const crash = idOf('accident', 'crash-1');
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
  for (const q of ['Truck 10', 'VIN10', idOf('vehicle', 'b'), idOf('safetyEvent', 'event-1')])
    expect(await textAt(`/portal/search?${new URLSearchParams({ q })}`)).toContain('Nothing');
  await them.send(vehicle({ name: 'Leaving' }));
  await operator.post(`/operator/connections/${them.connection.id}/deletion`, { name: 'Motive' });
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
  const of = (name: string, km: number, events: number, days = 1) => {
    const startedAt = minutesAgo(days * 24 * 60 + 60);
    const event = (_: unknown, i: number) =>
      safetyEvent({ sourceId: `${name} ${i}`, startedAt, driver: name, eventRisk: 4 });
    return [
      driver({ sourceId: name, name: 'Ann' }),
      trip({ sourceId: name, startedAt, driver: name, distanceKm: km }),
      ...Array.from({ length: events }, event),
    ];
  };
  await them.send(
    vehicle({ name: 'Truck 7' }),
    ...of('often', 2000, 4),
    ...of('rarely', 100, 1),
    ...of('never', 100, 0),
    ...of('long ago', 100, 3, 20),
  );
  await countEvents(env);
  const shown = async (query: string) => (await page(`/portal/drivers${query}`)).textAt('tbody tr');
  expect(await shown('?order=rate&days=7')).toEqual([
    expect.stringMatching(/Ann rarely.*Truck 7.* 1 .*10 100 km/),
    expect.stringMatching(/Ann often.*Truck 7.* 4 .*2 2,000 km/),
  ]);
  expect((await shown('?order=events&days=30')).join()).toMatch(
    /^Ann often.*,Ann long ago.*,Ann rarely/,
  );
  const all = await shown('');
  expect(all).toHaveLength(4);
  expect(all.join()).toMatch(/never.*0.*0/);
});

it('a ranking of drivers reads bounded rows, however many drivers there are', async () => {
  const them = await world();
  await addRows('drivers', 20_000, (i) => ({
    account_id: them.accountId,
    connection_id: them.connection.id,
    name: `Ann ${i}`,
  }));
  const person = await signIn(them);
  for (const order of ['rate', 'events'])
    expect(await readBy(person, `/portal/drivers?order=${order}`)).toBeLessThanOrEqual(500);
});

it('a page of a vehicle reads bounded rows, however many events it has', async () => {
  const id = idOf('vehicle', 'c');
  await addRows('safety_events', 10_000, (i) => ({
    account_id: us.accountId,
    connection_id: us.connection.id,
    vehicle_id: id,
    event_risk: 3,
    started_at: Date.now() - i * 1000,
  }));
  expect(await text(`/portal/vehicles/${id}`)).toContain('The newest 2,000');
  expect(await readBy(ann, `/portal/vehicles/${id}`)).toBeLessThanOrEqual(3 * 2000 + 100);
});
