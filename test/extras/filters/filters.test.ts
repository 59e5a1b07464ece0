import {
  accident,
  addConnection,
  as,
  createWebhook,
  deliveriesOf,
  invalid,
  issueKey,
  operator,
  ownRows,
  replaceWebhook,
  rows,
  safetyEvent,
  settled,
  signIn,
  story,
  times,
  vehicle,
  type WebhookOut,
  webhooksOf,
} from '#test/support.ts';

const { us, heard, send, register } = story();
const put = (id: string, changes: object) => replaceWebhook(us, id, changes);

type Notified = { type: number; data: { eventRisk?: number; notificationLevel?: number } };
const notified = () =>
  heard.got
    .map(({ body }) => body as Notified) // as it is sent
    .map(({ type, data }) =>
      type === 2 ? `risk ${data.eventRisk}` : `level ${data.notificationLevel}`,
    )
    .toSorted();

it('a webhook with filters is notified of what passes all of them, and nothing else is kept', async () => {
  const filters = { minEventRisk: 3, vehicleGroups: ['Reefers'], accidentLevels: [1, 3] };
  const { id } = await register({ filters });
  await send(
    vehicle(),
    vehicle({ sourceId: 'truck-2', vin: 'SOUTH1', groups: ['South', 'Reefers'] }),
    ...[2, 4].map((eventRisk) =>
      safetyEvent({ sourceId: `e${eventRisk}`, eventRisk, vehicle: 'truck-2' }),
    ),
    safetyEvent({ sourceId: 'north', eventRisk: 5 }),
    ...[1, 2, 3].map((notificationLevel) => accident({ vin: 'SOUTH1', notificationLevel })),
    accident({ sourceId: 'north' }),
  );
  await settled(id, 3);
  expect(notified()).toEqual(['level 1', 'level 3', 'risk 4']);
  expect(await ownRows(us, 'notifications')).toHaveLength(2);
});

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
  expect(await deliveriesOf(both)).toEqual([]);
  const person = await signIn(us);
  const [found] = await ownRows(us, 'accidents');
  const page = await person.textAt(`/portal/accidents/${found?.id}`);
  expect(page.match(/its filters leave this out/g)).toHaveLength(1);
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

it('the vehicle that filters look at is decided again at each level of an accident; an unknown one passes', async () => {
  const van = vehicle({ sourceId: 'van', groups: ['Vans'] });
  const vans = await register({ filters: { vehicleGroups: ['Vans'] } });
  const trucks = await register({ filters: { vehicleGroups: ['Trucks'] } });
  await send(accident({ sourceId: 'of an unknown vehicle' }));
  await send(van, accident());
  const truck = vehicle({ sourceId: 'truck', groups: ['Trucks'] });
  await send({ ...van, status: 'inactive' }, truck, accident());
  await send(accident({ notificationLevel: 2 }));
  const query = 'select level from deliveries where webhook_id = ?1 order by level';
  const levels = async ({ id }: WebhookOut) => (await rows(query, id)).map(({ level }) => level);
  expect(await levels(vans)).toEqual([1, 1]);
  expect(await levels(trucks)).toEqual([1, 2]);
});

it('a webhook with filters changes nothing for those beside it', async () => {
  const hooks = [];
  const crashes = { incidentTypes: ['Crash'] };
  for (const filters of [{ minEventRisk: 5 }, undefined, { minEventRisk: 1 }, crashes, {}])
    hooks.push((await register({ filters })).id);
  const count = 500; // a transaction makes deliveries of so many events for four webhooks
  const events = times(count, (i) => ({
    ...safetyEvent({ sourceId: `e${i}`, eventRisk: i % 2 ? 5 : 2 }),
    incidentTypes: [i < 10 ? 'crash' : 'speeding'],
  }));
  await send(vehicle());
  await send(...events);
  await settled(hooks[4] ?? '', count);
  const counts = hooks.map(async (id) => (await deliveriesOf(id)).length);
  expect(await Promise.all(counts)).toEqual([250, 500, 500, 10, 500]);
});

it('filters are listed, and removed by null or {}', async () => {
  const { id } = await register();
  const filters = { minEventRisk: 3, incidentTypes: ['Harsh Braking'] };
  expect((await put(id, { filters })).data.filters).toEqual(filters);
  expect(await webhooksOf(us)).toMatchObject([{ id, filters }]);
  const path = `/operator/accounts/${us.accountId}/webhooks`;
  expect((await operator.get(path)).data).toMatchObject([{ id, filters }]);
  for (const none of [null, {}]) {
    await put(id, { filters });
    expect((await put(id, { filters: none })).data).not.toHaveProperty('filters');
    expect((await webhooksOf(us))[0]).not.toHaveProperty('filters');
  }
  await send(vehicle(), safetyEvent({ eventRisk: 1 }));
  await settled(id, 1);
});

it('an update that keeps filters is refused without the type that they are about', async () => {
  const { id } = await register({ filters: { minEventRisk: 3, vehicleGroups: ['North'] } });
  const message = 'The filters of this webhook need a notification type that is left out';
  const refused = await put(id, { notificationTypes: [1] });
  expect(refused).toMatchObject(invalid(message, 'notificationTypes'));
  const filters = { vehicleGroups: ['North'] };
  for (const changes of [{ notificationTypes: [1], filters }, { notificationTypes: [2] }])
    expect((await put(id, changes)).data.filters).toEqual(filters);
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
  ['vehicleGroups.0 can be at most 100 characters', { vehicleGroups: ['x'.repeat(101)] }],
  ['must be an object', [{ minEventRisk: 3 }]],
])('filters are refused: %s', async (message, filters) => {
  const refused = await createWebhook(us, { filters });
  expect(refused.message).toMatch(new RegExp(`^filters[. ]${message}`));
});

it('the portal sets filters, says how much was sent, and removes them', async () => {
  const { page } = await signIn(us);
  const { id } = await register();
  await send(vehicle(), safetyEvent());
  await settled(id, 1);
  const path = `/portal/webhooks/${id}`;
  const save = async (incidentTypes: string[], groups: string[], levels: string[], risk: string) =>
    (await page(`${path}/edit`)).press('Save changes', {
      'filters.incidentTypes': incidentTypes,
      'filters.vehicleGroups': groups,
      'filters.accidentLevels': levels,
      'filters.minEventRisk': risk,
    });
  await save(['Harsh Braking'], ['North'], ['1'], '4');
  const filters = { incidentTypes: ['Harsh Braking'], vehicleGroups: ['North'] };
  expect(await webhooksOf(us)).toMatchObject([
    { filters: { ...filters, accidentLevels: [1], minEventRisk: 4 } },
  ]);
  const { text } = await page(path);
  expect(text).toMatch(/Safety events of risk 4 and above.*1 delivery sent within 24 hours/);
  expect((await save([], [], [], 'x')).status).toBe(400);
  await save([], [], [], '');
  expect((await webhooksOf(us))[0]).not.toHaveProperty('filters');
});
