import { recordId } from '#src/core/platform/db/ids.ts';
import type { Filters } from '#src/extras/filters/filters.ts';
import { settled } from '#test/support/deliveries.ts';
import { signIn } from '#test/support/portal.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import {
  addConnection,
  as,
  invalid,
  issueKey,
  operator,
  type WebhookOut,
  webhookBody,
} from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();
type Filtered = WebhookOut & { filters?: Filters };
const put = (id: string, changes: object) =>
  us.api.put<Filtered>(`/webhook/${id}`, webhookBody(us, changes));
const listed = async () => (await us.api.get<Filtered[]>('/webhooks')).data;

type Notified = { type: number; data: { eventRisk?: number; notificationLevel?: number } };
const notified = () =>
  heard.got
    .map(({ body }) => body as Notified) // as it is sent
    .map(({ type, data }) =>
      type === 2 ? `risk ${data.eventRisk}` : `level ${data.notificationLevel}`,
    )
    .toSorted();

const fleet = [
  vehicle(),
  vehicle({ sourceId: 'truck-2', vin: 'SOUTH1', groups: ['South', 'Reefers'] }),
  ...[2, 4, 5].map((eventRisk) => safetyEvent({ sourceId: `e${eventRisk}`, eventRisk })),
  safetyEvent({ sourceId: 'south', vehicle: 'truck-2', eventRisk: 3, incidentTypes: ['crash'] }),
  ...[1, 2, 3].map((notificationLevel) => accident({ notificationLevel })),
  accident({ sourceId: 'south', vin: 'SOUTH1', notificationLevel: 1 }),
  accident({ sourceId: 'unknown', vin: 'UNKNOWN1', notificationLevel: 2 }),
];
const risks = ['risk 2', 'risk 3', 'risk 4', 'risk 5'];
const levels = ['level 1', 'level 1', 'level 2', 'level 2', 'level 3'];

const cases: [Filters, string[]][] = [
  [{ minEventRisk: 4 }, [...levels, 'risk 4', 'risk 5']],
  [{ incidentTypes: ['Crash', 'Speeding'] }, [...levels, 'risk 3']],
  [{ vehicleGroups: ['Reefers'] }, ['level 1', 'level 2', 'risk 3']],
  [{ accidentLevels: [1, 3] }, ['level 1', 'level 1', 'level 3', ...risks]],
  [{ minEventRisk: 5, vehicleGroups: ['Reefers'], accidentLevels: [1] }, ['level 1']],
  [{ incidentTypes: ['Idling'], vehicleGroups: ['East'], accidentLevels: [3] }, []],
];
it.each(cases)(
  'a webhook with filters is notified of what passes all of them %j',
  async (filters, expected) => {
    const { id } = await register({ filters });
    expect(await send(...fleet)).toMatchObject({ data: { accepted: 11, rejected: [] } });
    await settled(id, expected.length);
    expect(notified()).toEqual(expected);
    const accidents = expected.filter((one) => one.startsWith('level'));
    const kept = await rows('select level from notifications where account_id = ?1', us.accountId);
    expect(kept).toHaveLength(accidents.length);
  },
);

it('a webhook filters accidents by vehicles of its own connections alone: others are as good as unknown', async () => {
  const other = await addConnection(us.accountId);
  const filters = { vehicleGroups: ['North'] };
  const { id: own } = await register({ filters });
  const { id: both } = await register({ filters, connectionIds: [us.connection.id, other.id] });
  const { data } = await as(await issueKey(other.id)).send(
    vehicle({ groups: ['South'], vin: 'OTHERS1' }),
  );
  expect(data).toMatchObject({ accepted: 1 });
  await send(accident({ vin: 'OTHERS1' }));
  await settled(own, 1);
  expect(await rows('select 1 from deliveries where webhook_id = ?1', both)).toEqual([]);
  const person = await signIn(us);
  const [found] = await rows('select id from accidents where account_id = ?1', us.accountId);
  const page = await person.textAt(`/portal/accidents/${found?.id}`);
  expect(page.match(/its filters leave this out/g)).toHaveLength(1);
});

it.each([
  ['North', 'NORTH', true],
  ['süd', 'SÜD', true],
  ['Straße 1', 'STRASSE 1', true],
  ['Caf\u00e9', 'CAFE\u0301', true],
  ['"Quoted"', '"QUOTED"', true],
  ['North', ' North', true],
  ['North', 'Nord', false],
])('the group %j is the group %j of a vehicle: %s', async (wanted, group, isSame) => {
  const { filters } = await register({ filters: { vehicleGroups: [wanted] } });
  expect(filters).toEqual({ vehicleGroups: [wanted] });
  const { data } = await send(
    vehicle({ groups: ['Other', group] }),
    ...[safetyEvent(), accident()],
  );
  expect(data).toMatchObject({ accepted: 3 });
  const deliveries = await rows('select 1 from deliveries where account_id = ?1', us.accountId);
  expect(deliveries).toHaveLength(isSame ? 2 : 0);
  expect((await us.lists.get('/vehicles')).data).toMatchObject([
    { groups: ['Other', group.trim()] },
  ]);
});

it('filters of a webhook that covers all connections are those of a connection that is added later', async () => {
  const filters = { accidentLevels: [1] };
  const hook = await register({ connectionIds: undefined, allConnections: true, filters });
  const { id } = await addConnection(us.accountId);
  const connector = as(await issueKey(id));
  await connector.send(vehicle(), accident(), accident({ sourceId: 'b', notificationLevel: 2 }));
  await settled(hook.id);
  expect(heard.got.map(({ body }) => body.data)).toMatchObject([
    { connection: id, notificationLevel: 1 },
  ]);
});

it('the vehicle that filters look at is decided again at each level of an accident', async () => {
  const van = vehicle({ sourceId: 'van', groups: ['Vans'] });
  const vans = await register({ filters: { vehicleGroups: ['Vans'] } });
  const trucks = await register({ filters: { vehicleGroups: ['Trucks'] } });
  await send(van, accident());
  await send(
    { ...van, status: 'inactive' },
    vehicle({ sourceId: 'truck', groups: ['Trucks'] }),
    accident(),
  );
  await send(accident({ notificationLevel: 2 }));
  const levels = (id: string) => rows('select level from deliveries where webhook_id = ?1', id);
  expect([await levels(vans.id), await levels(trucks.id)]).toEqual([
    [{ level: 1 }],
    [{ level: 2 }],
  ]);
});

it('an accident of an unknown vehicle passes any group, others only their own', async () => {
  const [right, wrong] = [
    await register({ filters: { vehicleGroups: ['van'] } }),
    await register({ filters: { vehicleGroups: ['other'] } }),
  ];
  const notified = async (eventId: string) =>
    rows('select webhook_id as id from deliveries where event_id = ?1 order by 1', eventId);
  await send(accident({ sourceId: 'unknown' }));
  await send(vehicle({ sourceId: 'van', groups: ['van'] }), accident());
  const idOf = (sourceId: string) => recordId(us.connection.id, 'accident', sourceId);
  const both = [right.id, wrong.id].toSorted().map((id) => ({ id }));
  expect(await notified(idOf('unknown'))).toEqual(both);
  expect(await notified(idOf('crash-1'))).toEqual([{ id: right.id }]);
});

it('a webhook with filters changes nothing for those beside it', async () => {
  const hooks = [];
  const all = [
    { minEventRisk: 5 },
    undefined,
    { minEventRisk: 1 },
    { incidentTypes: ['Crash'] },
    {},
  ];
  for (const filters of all) hooks.push((await register({ filters })).id);
  const count = 500; // a transaction makes deliveries of so many events for four webhooks
  await send(vehicle());
  await send(
    ...Array.from({ length: count }, (_, i) =>
      safetyEvent({
        sourceId: `e${i}`,
        eventRisk: i % 2 ? 5 : 2,
        incidentTypes: [i < 10 ? 'crash' : 'speeding'],
      }),
    ),
  );
  await settled(hooks[4] ?? '', count);
  const counts = hooks.map((id) => rows('select 1 from deliveries where webhook_id = ?1', id));
  expect((await Promise.all(counts)).map(({ length }) => length)).toEqual([250, 500, 500, 10, 500]);
});

it('filters are listed, kept by an update without them, and removed by null or {}', async () => {
  const { id } = await register();
  expect((await listed())[0]).not.toHaveProperty('filters');
  const filters = { minEventRisk: 3, incidentTypes: ['Harsh Braking'] };
  expect((await put(id, { filters })).data.filters).toEqual(filters);
  expect((await put(id, {})).data.filters).toEqual(filters);
  expect(await listed()).toMatchObject([{ id, filters }]);
  const path = `/operator/accounts/${us.accountId}/webhooks`;
  expect((await operator.get(path)).data).toMatchObject([{ id, filters }]);
  await happen(1);
  await settled(id, 1);
  for (const none of [null, {}]) {
    await put(id, { filters });
    expect((await put(id, { filters: none })).data).not.toHaveProperty('filters');
    expect((await listed())[0]).not.toHaveProperty('filters');
  }
  await send(safetyEvent({ sourceId: 'low', eventRisk: 1 }));
  await settled(id, 2);
});

it('an update that keeps filters is refused without the type that they are about', async () => {
  const { id } = await register({ filters: { minEventRisk: 3, vehicleGroups: ['North'] } });
  expect(await put(id, { notificationTypes: [1] })).toMatchObject(
    invalid(
      'The filters of this webhook need a notification type that is left out',
      'notificationTypes',
    ),
  );
  expect(await listed()).toMatchObject([
    { notificationTypes: [1, 2], filters: { minEventRisk: 3 } },
  ]);
  const filters = { vehicleGroups: ['North'] };
  expect(await put(id, { notificationTypes: [1], filters })).toMatchObject({
    status: 200,
    data: { filters },
  });
  expect(await put(id, { notificationTypes: [2] })).toMatchObject({
    status: 200,
    data: { filters },
  });
});

it('a level that filters let through does not wait for one that they do not', async () => {
  const { id } = await register({ filters: { accidentLevels: [1, 3] } });
  const other = await register({ filters: { accidentLevels: [2] } });
  await send(...[1, 2, 3].map((notificationLevel) => accident({ notificationLevel })));
  expect(await settled(id, 2)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
  await settled(other.id);
  expect(notified()).toEqual(['level 1', 'level 2', 'level 3']);
});

it.each([
  [{ vehicleGroups: ['x'.repeat(101)] }, 'filters.vehicleGroups.0 can be at most 100 characters'],
  [[{ minEventRisk: 3 }], 'filters must be an object'],
  [
    { incidentTypes: ['Crash'] },
    'filters.incidentTypes needs 2 (event) among the notificationTypes',
    [1],
  ],
])('filters %j are refused: %s', async (filters, message, notificationTypes = [1, 2]) => {
  const reply = await us.api.post('/webhook', webhookBody(us, { filters, notificationTypes }));
  expect(reply).toMatchObject({ status: 400, message, errors: [{ field: message.split(' ')[0] }] });
});

it('the portal sets filters, says how much was sent, and removes them', async () => {
  const { page } = await signIn(us);
  const { id } = await register();
  await send(...fleet);
  const path = `/portal/webhooks/${id}`;
  const save = async (choose: boolean, risk: string) =>
    (await page(`${path}/edit`)).press('Save changes', {
      'filters.incidentTypes': choose ? ['Harsh Braking'] : [],
      'filters.vehicleGroups': choose ? ['North'] : [],
      'filters.accidentLevels': choose ? ['1'] : [],
      'filters.minEventRisk': risk,
    });
  expect((await page(path)).text).not.toContain('sent within 24 hours');
  expect((await save(true, '4')).status).toBe(303);
  expect((await listed())[0]?.filters).toEqual({
    minEventRisk: 4,
    incidentTypes: ['Harsh Braking'],
    vehicleGroups: ['North'],
    accidentLevels: [1],
  });
  const { text } = await page(path);
  expect(text).toContain('Safety events of risk 4 and above');
  expect(text).toMatch(/\d deliver(?:y|ies) sent within 24 hours/);
  expect((await save(true, 'x')).status).toBe(400);
  expect((await save(false, '')).status).toBe(303);
  expect((await listed())[0]).not.toHaveProperty('filters');
});
