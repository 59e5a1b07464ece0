import { eventRecord, vehicleRecord } from '#src/extras/providers/motive/records.ts';
import { changes } from '#test/extras/changes/support.ts';
import { addRow, dayMs, signIn } from '#test/support.ts';
import { add, type Item, iso, soon } from './fleets/fleet.ts';
import {
  fakeMotive,
  type MotiveData,
  motiveData,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from './fleets/motive.ts';
import { aheadBy, dismissed, keepEvidence, providerStory, reported } from './support.ts';

let data: MotiveData;
let fault: (url: URL) => Response | undefined;
const tale = providerStory('motive', () => data.key);
const {
  pulled,
  connected,
  arrived,
  notified,
  levels,
  events,
  trips,
  accidents,
  pullAll,
  pullRun,
  pullAfter,
} = tale;

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
/** A crash that Motive lists from now on. */
const crashes = (vehicle = truck, more: Item = {}, at = soon()) =>
  add(data.performance, motiveEvent(vehicle, 'crash', at, more));
const change = (item: Item, more: Item) =>
  Object.assign(item, more, { changedAt: iso(Date.now() + 2_000) });

/** A link to a video, as Motive signs it, and what a crash with it has. */
const signed = (signature: string) =>
  `https://media.example.com/1.mp4?X-Amz-Expires=172800&X-Amz-Signature=${signature}`;
const filmed = (signature: string) => ({
  camera_media: {
    available: true,
    downloadable_videos: { front_facing_plain_url: signed(signature) },
  },
});

const unused = { status: 'deactivated', year: '0', vin: null, make: '' };
it.each([
  [
    'no year, VIN or make of a vehicle that is not used and has none',
    vehicleRecord(motiveVehicle(2, unused), new Map()),
    { year: null, vin: null, make: null, status: 'inactive' },
  ],
  [
    'an event by its type, and at the higher of its speeds',
    eventRecord(motiveEvent(truck, 'hard_brake', 0, { metadata: { severity: 'medium' } })),
    { incidentTypes: ['hard_brake'], eventRisk: 3, maxSpeedKph: 96.56 },
  ],
])('knows %s', (_, record, expected) => {
  expect(record).toMatchObject(expected);
});

it('takes over what is changed later', async () => {
  await connected([2]);
  const swerving = motiveEvent(truck, 'aggregated_lane_swerving_event', soon(), {
    metadata: { severity: 'critical' },
    driver: null,
    secondary_behaviors: ['Cell Phone Usage', 'No tag applies'],
  });
  data.performance.push(swerving);
  const isGoingOn = { status: 'in_progress', end_time: null, end_kilometers: null };
  const trip = add(data.periods, motivePeriod(other, soon(), isGoingOn));
  const speeding = motiveSpeeding(truck, soon(), { id: swerving.id });
  data.speeding.push(speeding, motiveSpeeding(other, soon(), { status: 'invalid' }));
  await pulled(2);
  const types = notified().map(({ translatedIncidentTypes: types }) => String(types));
  expect(types.sort()).toEqual(['Lane Departure,Phone Usage', 'Speeding']);
  expect(await trips()).toMatchObject([{ endedAt: null, durationSeconds: null }]);
  change(swerving, { driver: { id: 4033171 } });
  change(trip, motivePeriod(other, Date.parse(String(trip.start_time)), { id: trip.id }));
  await pullAll();
  const found = await events({ withdrawn: 'false' });
  expect(found.map(({ eventRisk, driverId }) => [eventRisk, driverId !== null]).sort()).toEqual([
    [4, false],
    [5, true],
  ]);
  expect(await trips()).toMatchObject([{ durationSeconds: 1800 }]);
  change(swerving, { coaching_status: 'dismissed' });
  Object.assign(speeding, { status: 'invalid' });
  await pullAll();
  expect(await events({ withdrawn: 'true' })).toHaveLength(3);
  expect(tale.hooks.got).toHaveLength(2);
});

describe('a crash', () => {
  it('is confirmed by being listed after the review, and dismissed when it is gone', async () => {
    await connected([1]);
    const said = { isSlight: true, acceleration: '-3.4', metadata: { severity: 'high' } };
    const crash = crashes(truck, said);
    crashes(other);
    await pulled(2);
    aheadBy(5);
    await keepEvidence();
    data.performance = [crash];
    await pulled(3);
    expect(levels(truck.vin)).toHaveLength(1);
    aheadBy(11);
    await pulled(4);
    change(crash, filmed('1'));
    await pulled(5);
    expect(levels(truck.vin)).toEqual(reported);
    expect(levels(other.vin)).toEqual(dismissed);
    const listed = await accidents();
    expect(listed.find(({ vin }) => vin === truck.vin)).toMatchObject({
      reportUrl: 'https://media.example.com/1.mp4',
      driverId: expect.any(String),
      vehicleName: truck.number,
      maxSpeedKph: 96.56,
      accelerationG: 3.4,
      severity: 'high',
    });
    expect(await tale.evidence()).toEqual([
      { kind: 'video', camera: 'front facing', source: signed('1') },
    ]);
  });

  it('is judged only when the whole list was read', async () => {
    await connected([1]);
    const all = [1, 2, 3].map((n) => crashes(motiveVehicle(n), {}, soon() + n * 1000));
    await pulled(3);
    for (const crash of all) crash.changedAt = '2020-01-01T00:00:00Z';
    // The second page of the look-up fails; then one goes away between its pages, which hides another.
    const isSecond = ({ searchParams }: URL) =>
      searchParams.has('event_types') && searchParams.get('page_no') === '2';
    fault = (url) => (isSecond(url) ? new Response('upstream', { status: 502 }) : undefined);
    await pullRun();
    fault = (url) => {
      if (isSecond(url)) data.performance = all.slice(0, 2); // the newest comes first
      return undefined;
    };
    await pullRun();
    expect(tale.hooks.got).toHaveLength(3);
    fault = () => undefined;
    data.performance = all;
    await pullAll();
    expect(await accidents({ dismissed: 'true' })).toEqual([]);
    data.performance = all.slice(1);
    await pulled(4);
    expect(levels(truck.vin)).toEqual(dismissed);
  });

  it('is not changed by a new signature of its video', async () => {
    await connected();
    const crash = crashes(truck, { ...filmed('1'), coaching_status: 'coached' });
    await pullAll();
    const kinds = 'kinds=accident,safetyEvent';
    const { resume } = await changes(tale.us.apiToken, `${kinds}&cursor=now`);
    const [{ updatedAt } = {}] = await accidents();
    for (const minutes of [1, 8 * 24 * 60]) {
      aheadBy(minutes); // when it is a week old, the look-up does not know it any more
      change(crash, filmed(String(minutes)));
      await pullAll();
    }
    expect(await accidents()).toMatchObject([{ notificationLevel: 3, updatedAt }]);
    expect((await changes(tale.us.apiToken, `${kinds}&cursor=${resume}`)).data).toEqual([]);
  });

  it('has its video opened in the portal by the link that is valid now', async () => {
    crashes(other);
    const crash = crashes(truck, { ...filmed('1'), coaching_status: 'coached' });
    await connected();
    const [{ eventId } = {}] = await accidents({ minLevel: '3' });
    change(crash, filmed('2'));
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
    const withdrawn = { connection_id: tale.id, withdrawn_at: 1 };
    await addRow('connect_links', { account_id: tale.us.accountId, ...withdrawn });
    expect(await open()).toEqual([303, `/portal/accidents/${eventId}`]);
  });

  it.each(['1', '2'])('is notified although no page %s of events can be read', async (no) => {
    await connected([1]);
    for (const n of [1, 2, 3]) data.performance.push(motiveEvent(other, 'hard_brake', soon(n)));
    fault = ({ searchParams, pathname }) =>
      pathname.includes('events') &&
      !searchParams.has('event_types') &&
      searchParams.get('page_no') === no
        ? new Response('upstream', { status: 502 })
        : undefined;
    await pullRun();
    crashes();
    aheadBy(2);
    await pullRun();
    await arrived(1);
    expect(await tale.problems()).toHaveLength(1);
    fault = () => undefined;
    await pulled(1);
    expect(await events()).toHaveLength(4);
  });

  it.each([403, 502])('is notified although speeding is answered with %i', async (status) => {
    fault = ({ pathname }) =>
      pathname.includes('speeding') ? new Response('', { status }) : undefined;
    await connected([1], { historyDays: status === 403 ? 8 : 0 });
    crashes();
    await pullRun();
    await arrived(1);
    expect(Number(await tale.pullColumn('due_at'))).toBeLessThan(Date.now() + 61_000);
    expect(await tale.problems()).toHaveLength(1);
    fault = () => undefined;
    await pullAll();
    expect(await tale.problems()).toEqual([]);
  });

  it('is not dismissed for its age', async () => {
    await connected([1]);
    crashes();
    for (const minutes of [0, 7 * 24 * 60 - 90, 7 * 24 * 60 + 5]) await pullAfter(minutes);
    expect(await accidents()).toMatchObject([{ notificationLevel: 2, dismissed: false }]);
  });

  it('from before the connection was made is confirmed in silence', async () => {
    for (const days of [2, 20]) crashes(truck, {}, Date.now() - days * dayMs);
    await connected([1], { historyDays: 30 });
    await pullAfter(11);
    expect(await accidents()).toMatchObject([{ notificationLevel: 2 }, { notificationLevel: 2 }]);
    expect(tale.hooks.got).toEqual([]);
  });
});

it('reads on where no number of items is given', async () => {
  serve({ saysTotal: false });
  const start = soon();
  await tale.connect();
  data.vehicles = Array.from({ length: 230 }, (_, n) => motiveVehicle(n));
  for (const ms of [0, 1000]) crashes(truck, {}, start + ms);
  await pullAll();
  expect(await tale.vehicles()).toHaveLength(230);
  data.performance.pop();
  await pullAll();
  expect((await accidents()).map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
});

it('reads the last 30 days again every few hours, so that what came late is found', async () => {
  await connected();
  const at = soon();
  await pullAfter(28 * 24 * 60);
  data.speeding.push(motiveSpeeding(truck, at));
  data.performance.push(motiveEvent(truck, 'hard_brake', at, { changedAt: '2020' }));
  await pullAll();
  await pullAfter(28 * 24 * 60 + 400);
  expect(await events()).toHaveLength(2);
});

it('catches up after a long pause, in stretches of days', async () => {
  await connected();
  const start = soon();
  aheadBy(45 * 24 * 60);
  const times = [1, 20, 40].map((days) => start + days * dayMs);
  data.performance = times.map((at) => motiveEvent(truck, 'hard_brake', at));
  data.speeding = times.map((at) => motiveSpeeding(truck, at));
  data.periods = times.map((at) => motivePeriod(truck, at));
  await pullAll();
  const until = { to: iso(start + 60 * dayMs), from: iso(start) };
  expect([(await events(until)).length, (await trips(until)).length]).toEqual([6, 3]);
});
