import {
  crashOf,
  driverRecord,
  eventRecord,
  vehicleRecord,
} from '#src/extras/providers/terminal/records.ts';
import { add, type Item, iso, soon } from './fleets/fleet.ts';
import {
  fakeTerminal,
  type TerminalData,
  terminalCredential,
  terminalData,
  terminalDriver,
  terminalEvent,
  terminalRaw,
  terminalVehicle,
} from './fleets/terminal.ts';
import { providerStory } from './support.ts';

let data: TerminalData;
const tale = providerStory('terminal', () => terminalCredential(data));
const { pulled, connected, notified, names, drivers, events, vehicles, pullAll, problems } = tale;

beforeEach(() => {
  data = terminalData();
  const terminal = fakeTerminal(data, { perPage: 2 });
  tale.hooks.serves('https://api.withterminal.com', terminal);
});

const changed = (item: object, more: object, at = Date.now() + 120_000) =>
  Object.assign(item, more, { metadata: { addedAt: iso(at), modifiedAt: iso(at) } });
const truck = terminalVehicle(1);
const event = (more: Item, type = 'harsh_brake') => terminalEvent(truck, type, soon(), more);

it.each([
  [
    'a vehicle that is not used and has no name',
    vehicleRecord(terminalVehicle(2, { name: undefined, vin: undefined, status: 'inactive' })),
    { name: '281474902', vin: null, status: 'inactive' },
  ],
  [
    'a driver by their username',
    driverRecord(
      terminalDriver(2, { firstName: '', middleName: '', lastName: '', username: 'kim.2' }),
    ),
    { name: 'kim.2' },
  ],
  [
    'an event by where it ended, and the limit by the map',
    eventRecord(
      event({
        startLocation: undefined,
        stats: { maximumSpeed: 101 },
        extensions: { here: { speedLimit: 90 } },
      }),
      undefined,
    ),
    { location: { latitude: 32.8, longitude: -96.8101 }, speedLimitKph: 90 },
  ],
  [
    "the provider's own word where the connection's map has it",
    eventRecord(event({ sourceType: 'HARSH_U_TURN' }, 'harsh_turn'), { HARSH_U_TURN: [] }),
    { incidentTypes: ['harsh_turn', 'HARSH_U_TURN'] },
  ],
  [
    'no word of which the map has nothing',
    eventRecord(event({ sourceType: 'HARSH_LEFT' }, 'harsh_turn'), { HARSH_U_TURN: [] }),
    { incidentTypes: ['harsh_turn'] },
  ],
])('knows %s', (_, record, expected) => {
  expect(record).toMatchObject(expected);
});

const labelled = { behaviorLabels: [{ label: 'Crash', source: 'automated' }] };
const filmed = { cameraMedia: { frontFacing: { available: true } } };
it.each([
  ['samsara', { ...labelled, eventState: 'needsReview' }, {}, { level: 1, dismissed: false }],
  ['samsara', { ...labelled, eventState: 'coached' }, {}, { level: 2 }],
  ['samsara', { ...labelled, eventState: 'coached' }, filmed, { level: 3 }],
  [
    'motive',
    { driver_performance_event: { coaching_status: 'pending_review' } },
    {},
    { level: 1, dismissed: false },
  ],
  ['motive', { coaching_status: 'uncoachable' }, {}, { dismissed: true }],
  ['geotab', { state: 'ExceptionEventStateDismissedId' }, {}, { dismissed: true }],
  ['azuga', {}, filmed, { level: 1, dismissed: false }],
  ['azuga', {}, { type: 'near_crash' }, undefined],
])('takes a crash as far as %s says by %j, with %j', (provider, record, more, expected) => {
  const crash = event({ raw: [terminalRaw(provider, record)], ...more }, 'crash');
  if (expected) expect(crashOf(crash)).toMatchObject(expected);
  else expect(crashOf(crash)).toBeUndefined();
});

it('lists vehicles although their groups may not be read', async () => {
  const terminal = fakeTerminal(data);
  tale.hooks.serves('https://api.withterminal.com', (request) =>
    request.url.includes('/groups') ? new Response('', { status: 403 }) : terminal(request),
  );
  await connected();
  expect(await names()).toHaveLength(3);
});

it('lists what was deleted as inactive', async () => {
  await connected();
  const gone = { deletedAt: iso(soon()), visibility: 'deleted' };
  for (const item of [data.vehicles[2], data.drivers[2]])
    Object.assign(changed(item ?? {}, {}, soon()).metadata, gone);
  await pullAll();
  expect(await vehicles({ status: 'inactive' })).toHaveLength(1);
  expect(await drivers({ status: '0' })).toHaveLength(1);
});

it('tells of nothing from before the connection, and takes over what is changed later', async () => {
  await connected([2]);
  const speeding = add(data.events, event({ driver: undefined, stats: undefined }, 'speeding'));
  // Taken in late: it began before the connection was made.
  const late = terminalEvent(truck, 'harsh_turn', Date.now() - 86_400_000);
  data.events.push(changed(late, {}, soon()));
  await pulled(1);
  expect(notified()).toMatchObject([{ translatedIncidentTypes: ['Speeding'] }]);
  expect(await events()).toHaveLength(2);
  changed(speeding, { driver: data.drivers[0]?.id });
  await pullAll();
  const [after] = await events({ eventTypes: 'Speeding' });
  expect(after?.driverId).not.toBeNull();
  const raw = [terminalRaw('motive', { coaching_status: 'dismissed' })];
  changed(speeding, { raw }, Date.now() + 240_000);
  await pullAll();
  const withdrawn = await events({ withdrawn: 'true' });
  expect(withdrawn).toMatchObject([{ translatedIncidentTypes: ['Speeding'] }]);
  expect(tale.hooks.got).toHaveLength(1);
});

it('says that Terminal has lost the customer, and goes on when they are back', async () => {
  await connected();
  data.status = 'disconnected';
  const why =
    'Terminal is no longer connected to Samsara: the customer has to connect it again, through Terminal.';
  expect((await tale.tryToConnect()).message).toBe(`credential ${why}`);
  await pullAll();
  expect(await problems()).toMatchObject([{ advice: `${why} We will keep trying.` }]);
  data.status = 'connected';
  changed(data.vehicles[0] ?? {}, { name: 'Truck one' });
  await pullAll();
  expect(await problems()).toEqual([]);
  expect(await names()).toEqual(['Truck 2', 'Truck 3', 'Truck one']);
});
