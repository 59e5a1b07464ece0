import { changes } from '#test/extras/changes/support.ts';
import {
  fakeMotive,
  type MotiveData,
  motiveData,
  motiveDriver,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from '#test/extras/providers/fleets/motive.ts';
import { signIn } from '#test/support/portal.ts';
import {
  aheadBy,
  dismissed,
  providerStory,
  pullAll,
  pullRun,
  pullStatus,
  reported,
} from '#test/support/provider.ts';
import { rows } from '#test/support/rows.ts';

const day = 86_400_000;
/** Motive's times are whole seconds. */
const iso = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString();
/** Soon enough to be after the connection was made, in whole seconds too. */
const soon = () => Date.now() + 2_000;

let data: MotiveData;
let fault: (url: URL) => Response | undefined;
const tale = providerStory('motive', () => data.key);
const { connectWith, connected, arrived, notified, levels, drivers, events, trips, accidents } =
  tale;

beforeEach(() => {
  data = motiveData();
  fault = () => undefined;
  serve();
});

function serve(more: { perPage?: number; saysTotal?: boolean } = { perPage: 2 }) {
  const motive = fakeMotive(data, more);
  const serveNow = (request: Request) => fault(new URL(request.url)) ?? motive(request);
  tale.hooks.serves('https://api.gomotive.com', serveNow);
}

const [truck, other] = [motiveVehicle(1), motiveVehicle(2)];
/** A link to a video, as Motive signs it, and what a crash with it has. */
const signed = (signature: string) =>
  `https://media.example.com/1.mp4?X-Amz-Expires=172800&X-Amz-Signature=${signature}`;
const filmed = (signature: string) => ({
  camera_media: {
    id: 1,
    available: true,
    downloadable_videos: { front_facing_plain_url: signed(signature) },
  },
});

it('loads vehicles, drivers and a history of events and trips as customers know them', async () => {
  data.vehicles[1] = motiveVehicle(2, { status: 'deactivated', year: '0', vin: null, make: null });
  data.users[1] = motiveDriver(2, { status: 'deactivated' });
  data.users[2] = motiveDriver(3, { role: 'admin' });
  // Some just after the first moment of a week of history, and the company's days are others than those of UTC.
  data.dayBeginsAt = 24;
  for (const ago of [2, 7 - 1 / 1440, 20, 29]) {
    const at = Date.now() - ago * day;
    data.performance.push(motiveEvent(truck, 'hard_brake', at));
    data.speeding.push(motiveSpeeding(truck, at));
    data.periods.push(motivePeriod(truck, at));
  }
  data.speeding.push(motiveSpeeding(truck, Date.now() - 31 * day));
  const id = await connected([1, 2], { historyDays: 30 });
  const vehicles = await tale.vehicles(id);
  const named = (name: string) => vehicles.find((one) => one.name === name);
  expect(vehicles).toHaveLength(3);
  expect(named('Truck 1')).toMatchObject({
    sourceId: '1300181',
    vin: '1FUJGLDR7CL200001',
    make: 'Freightliner',
    model: null,
    year: 2022,
    fuelType: 'diesel',
    licensePlate: 'MTV-1',
    groups: ['Yard 3', 'Yard 1'],
    status: 'active',
  });
  expect(named('Truck 2')).toMatchObject({ year: null, vin: null, status: 'inactive' });
  const people = await drivers(id);
  expect(people.map(({ name, status }) => [name, status]).sort()).toEqual([
    ['Sam Sample 1', 1],
    ['Sam Sample 2', 0],
  ]);
  expect(people[0]).toMatchObject({ email: null, phone: '+1 6155550100', licenseState: 'TN' });
  const [found, driven] = [await events(id), await trips(id)];
  expect([found.length, driven.length]).toEqual([8, 4]);
  expect(tale.hooks.got).toEqual([]);
  const { organisation, feeds } = await pullStatus(id);
  expect(organisation).toBe('Sample Freight');
  expect(feeds.flatMap(({ history }) => history?.share ?? [])).toEqual([1, 1]);
  const place = { latitude: 36.1627, longitude: -86.7816 };
  expect(found.find(({ speedLimitKph }) => speedLimitKph === null)).toMatchObject({
    incidentTypes: ['hard_brake'],
    translatedIncidentTypes: ['Harsh Braking'],
    eventRisk: 3,
    location: place,
    maxSpeedKph: 96.56,
  });
  expect(found.find(({ speedLimitKph }) => speedLimitKph === 104.6)).toMatchObject({
    sourceId: expect.stringContaining('speeding:'),
    translatedIncidentTypes: ['Speeding'],
    eventRisk: 4,
    location: place,
    driverId: null,
    maxSpeedKph: 121.5,
  });
  expect(driven[0]).toMatchObject({
    startLocation: place,
    endLocation: { latitude: 36.2, longitude: -86.7 },
    distanceKm: 42.25,
    durationSeconds: 1800,
  });
});

it('takes over what is changed later', async () => {
  const id = await connected([2]);
  const brake = motiveEvent(truck, 'aggregated_lane_swerving_event', soon(), {
    metadata: { severity: 'critical' },
    secondary_behaviors: ['Cell Phone Usage', 'No tag applies'],
    driver: null,
  });
  const trip = motivePeriod(other, soon(), {
    status: 'in_progress',
    end_time: null,
    end_kilometers: null,
  });
  data.performance.push(brake);
  const speeding = motiveSpeeding(truck, soon(), { id: brake.id });
  data.speeding.push(speeding, motiveSpeeding(other, soon(), { status: 'invalid' }));
  data.periods.push(trip);
  await pullAll(id);
  await arrived(2);
  const types = notified().map(({ translatedIncidentTypes: types }) => String(types));
  expect(types.sort()).toEqual(['Lane Departure,Phone Usage', 'Speeding']);
  expect(await trips(id)).toMatchObject([{ endedAt: null, durationSeconds: null }]);
  Object.assign(brake, { driver: { id: 4033171 }, changedAt: iso(soon()) });
  const ended = motivePeriod(other, Date.parse(String(trip.start_time)), { id: trip.id });
  Object.assign(trip, ended, { changedAt: iso(soon()) });
  await pullAll(id);
  const found = await events(id, { withdrawn: 'false' });
  expect(found).toHaveLength(2);
  expect(found.find(({ eventRisk }) => eventRisk === 5)?.driverId).not.toBeNull();
  expect(await trips(id)).toMatchObject([{ durationSeconds: 1800 }]);
  Object.assign(brake, { coaching_status: 'dismissed', changedAt: iso(soon()) });
  Object.assign(speeding, { status: 'invalid' });
  await pullAll(id);
  expect(await events(id, { withdrawn: 'true' })).toHaveLength(3);
  expect(tale.hooks.got).toHaveLength(2);
});

describe('a crash', () => {
  it('is confirmed by being listed after the review, and dismissed when it is gone', async () => {
    const id = await connected([1]);
    const said = { acceleration: '-3.4', metadata: { severity: 'high' } };
    const crash = motiveEvent(truck, 'crash', soon(), { isSlight: true, ...said });
    data.performance.push(crash, motiveEvent(other, 'crash', soon()));
    await pullAll(id);
    await arrived(2);
    aheadBy(5);
    await rows(
      'insert or replace into evidence_days (account_id, days, since) select id, 30, 0 from accounts',
    );
    data.performance = [crash];
    await pullAll(id);
    await arrived(3);
    expect(levels(truck.vin)).toHaveLength(1);
    aheadBy(11);
    await pullAll(id);
    await arrived(4);
    Object.assign(crash, { ...filmed('1'), changedAt: iso(Date.now()) });
    await pullAll(id);
    await pullAll(id);
    await arrived(5);
    expect(levels(truck.vin)).toEqual(reported);
    expect(levels(other.vin)).toEqual(dismissed);
    const listed = await accidents(id);
    expect(listed.find(({ vin }) => vin === truck.vin)).toMatchObject({
      dismissed: false,
      notificationLevel: 3,
      reportUrl: 'https://media.example.com/1.mp4',
      driverId: expect.any(String),
      vehicleName: truck.number,
      maxSpeedKph: 96.56,
      accelerationG: 3.4,
      severity: 'high',
    });
    expect(listed.find(({ vin }) => vin === other.vin)).toMatchObject({ dismissed: true });
    expect(await rows('select kind, camera, source from evidence')).toEqual([
      { kind: 'video', camera: 'front facing', source: signed('1') },
    ]);
  });

  it('is dismissed when it has become something else, or was marked as no crash', async () => {
    const id = await connected([1]);
    const near = motiveEvent(truck, 'crash', soon());
    const marked = motiveEvent(other, 'crash', soon());
    data.performance.push(near, marked);
    await pullAll(id);
    Object.assign(near, { type: 'near_miss', changedAt: iso(soon()) });
    Object.assign(marked, { coaching_status: 'uncoachable', changedAt: iso(soon()) });
    await pullAll(id);
    await arrived(4);
    for (const { vin } of [truck, other]) expect(levels(vin)).toEqual(dismissed);
    expect(await events(id, { eventTypes: 'Near Crash' })).toHaveLength(1);
  });

  it('is judged only when the whole list was read', async () => {
    const crashes = [1, 2, 3].map((n) => motiveEvent(motiveVehicle(n), 'crash', soon() + n * 1000));
    const id = await connected([1]);
    data.performance.push(...crashes);
    await pullAll(id);
    await arrived(3);
    for (const crash of crashes) crash.changedAt = '2020-01-01T00:00:00Z';
    // The second page of the look-up fails; then one goes away between its pages, which hides another.
    const isSecond = ({ searchParams }: URL) =>
      searchParams.has('event_types') && searchParams.get('page_no') === '2';
    fault = (url) => (isSecond(url) ? new Response('upstream', { status: 502 }) : undefined);
    await pullRun(id);
    fault = (url) => {
      if (isSecond(url)) data.performance = crashes.slice(0, 2); // the newest comes first
      return undefined;
    };
    await pullRun(id);
    expect(tale.hooks.got).toHaveLength(3);
    fault = () => undefined;
    data.performance = crashes;
    await pullAll(id);
    expect(await accidents(id, { dismissed: 'true' })).toEqual([]);
    data.performance = crashes.slice(1);
    await pullAll(id);
    await arrived(4);
    expect(levels(truck.vin)).toEqual(dismissed);
  });

  it('is not changed by a new signature of its video', async () => {
    const id = await connected();
    const crash = motiveEvent(truck, 'crash', soon());
    const media = (signature: string) => ({
      ...{ ...filmed(signature), coaching_status: 'coached', changedAt: iso(soon()) },
    });
    data.performance.push(Object.assign(crash, media('1')));
    await pullAll(id);
    const kinds = 'kinds=accident,safetyEvent';
    const { resume } = await changes(tale.us.apiToken, `${kinds}&cursor=now`);
    const [{ updatedAt } = {}] = await accidents(id);
    for (const minutes of [1, 8 * 24 * 60]) {
      aheadBy(minutes); // when it is a week old, the look-up does not know it any more
      Object.assign(crash, media(String(minutes)));
      await pullAll(id);
    }
    expect(await accidents(id)).toMatchObject([{ notificationLevel: 3, updatedAt }]);
    expect((await changes(tale.us.apiToken, `${kinds}&cursor=${resume}`)).data).toEqual([]);
  });

  it('has its video opened in the portal by the link that is valid now', async () => {
    const crash = motiveEvent(truck, 'crash', soon(), {
      ...filmed('1'),
      coaching_status: 'coached',
    });
    data.performance.push(motiveEvent(other, 'crash', soon()), crash);
    const id = await connected();
    const [{ eventId, reportUrl } = {}] = await accidents(id, { minLevel: '3' });
    expect(reportUrl).toBe('https://media.example.com/1.mp4');
    Object.assign(crash, filmed('2'));
    const ann = await signIn(tale.us);
    const open = async () => {
      const reply = await ann.get(`/portal/accidents/${eventId}/report`);
      return [reply.status, reply.headers.get('location')];
    };
    expect(await open()).toEqual([303, signed('2')]);
    data.performance.pop();
    expect(await open()).toEqual([303, `/portal/accidents/${eventId}`]);
    fault = () => new Response('', { status: 503 });
    expect(await open()).toEqual([303, `/portal/accidents/${eventId}`]);
  });

  it('is notified although the lists of events cannot be read', async () => {
    const id = await connected([1]);
    data.performance.push(motiveEvent(truck, 'crash', soon()));
    fault = ({ searchParams, pathname }) =>
      pathname.includes('events') && !searchParams.has('event_types')
        ? new Response('upstream', { status: 502 })
        : undefined;
    await pullRun(id);
    await arrived(1);
    expect((await pullStatus(id)).feeds.filter(({ problem }) => problem)).toHaveLength(1);
    fault = () => undefined;
    await pullAll(id);
    expect(await events(id)).toHaveLength(1);
    expect(tale.hooks.got).toHaveLength(1);
  });

  it('is not dismissed for its age', async () => {
    const id = await connected([1]);
    data.performance.push(motiveEvent(truck, 'crash', soon()));
    for (const minutes of [0, 7 * 24 * 60 - 90, 7 * 24 * 60 + 5]) {
      aheadBy(minutes);
      await pullAll(id);
    }
    expect(await accidents(id)).toMatchObject([{ notificationLevel: 2, dismissed: false }]);
  });

  it('from before the connection was made is confirmed in silence', async () => {
    data.performance.push(
      motiveEvent(truck, 'crash', Date.now() - 20 * day),
      motiveEvent(other, 'crash', Date.now() - 2 * day),
    );
    const id = await connected([1], { historyDays: 30 });
    aheadBy(11);
    await pullAll(id);
    expect(await accidents(id)).toMatchObject([{ notificationLevel: 2 }, { notificationLevel: 2 }]);
    expect(tale.hooks.got).toEqual([]);
  });
});

it('reads on where no number of items is given', async () => {
  serve({ saysTotal: false });
  const start = soon();
  const id = await connectWith(data.key);
  data.vehicles = Array.from({ length: 230 }, (_, n) => motiveVehicle(n));
  data.performance = [0, 1000].map((ms) => motiveEvent(truck, 'crash', start + ms));
  await pullAll(id);
  expect(await tale.vehicles(id)).toHaveLength(230);
  data.performance.pop();
  await pullAll(id);
  expect((await accidents(id)).map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
});

it('reads the last 30 days again every few hours, so that what came late is found', async () => {
  const id = await connected();
  const lateSpeeding = motiveSpeeding(truck, soon());
  const lateBrake = motiveEvent(truck, 'hard_brake', soon(), { changedAt: '2020-01-01T00:00:00Z' });
  aheadBy(28 * 24 * 60);
  await pullAll(id);
  data.speeding.push(lateSpeeding);
  data.performance.push(lateBrake);
  await pullAll(id);
  aheadBy(28 * 24 * 60 + 400);
  await pullAll(id);
  expect(await events(id)).toHaveLength(2);
});

it('catches up after a long pause, in stretches of days', async () => {
  const id = await connected();
  const start = soon();
  aheadBy(45 * 24 * 60);
  const times = [1, 20, 40].map((days) => start + days * day);
  data.performance = times.map((at) => motiveEvent(truck, 'hard_brake', at));
  data.speeding = times.map((at) => motiveSpeeding(truck, at));
  data.periods = times.map((at) => motivePeriod(truck, at));
  await pullAll(id);
  const until = { to: iso(start + 60 * day), from: iso(start) };
  expect([(await events(id, until)).length, (await trips(id, until)).length]).toEqual([6, 3]);
});
