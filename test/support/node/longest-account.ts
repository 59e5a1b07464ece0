import { listen, servedBy, startReceiver } from '#src/cli/local/receiver.ts';
import { operatorOf } from '#src/cli/operate/client.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { mediaLink } from '#src/dev/fakes/media.ts';
import {
  fakeSamsara,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '#src/dev/fakes/samsara.ts';
import { accident, driver, safetyEvent, times, trip, vehicle } from '#test/support/records.ts';
import { journeyAccount, type SharedStack, until } from './journey.ts';

/** Names of 60 characters, of many words and of one. */
const manyWords = 'North Atlantic Refrigerated Long-Haul Tractor Unit Nr 1142 B';
const oneWord = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauter';
const longHost =
  'accident-notifications.dispatch-and-safety.northern-division.quillmoor-freight-logistics.example.com';
const email = (name: string) => `${name}.of-the-northern-division@quillmoor-freight.example.com`;
const address = '11042 Northwest Martin Luther King Junior Boulevard, Rancho Cucamonga, California';
const groups = times(10, (i) => `Northern division, depot ${i + 1}`);
const incidentTypes = ['Harsh Braking', 'Tailgating', 'Red Light Violation', 'Speeding'];

/** Before today, whose times are shown without their day. */
const ago = (minutes: number) => new Date(Date.now() - dayMs - minutes * 60_000).toISOString();
const place = (longitude: number) => ({ latitude: 34.10639, longitude, address });

/** An account with the longest data on each page. */
export async function longestAccount(stack: SharedStack) {
  const operator = operatorOf(stack);
  const names = { account: manyWords, connection: oneWord };
  const us = await journeyAccount(stack, names);
  const media = await listen(stack.certificates, 0, servedBy(fakeSamsara(fleetOf())));
  const receiver = await startReceiver(stack.certificates, 0, () => {});
  const of = { id: us.accountId };
  await operator.call('PATCH /accounts/:id', { ...of, body: { evidenceDays: 90 } });

  // Who is told: a receiver that works, one that does not, and channels.
  await us.register(`${receiver.url}/${'northern-division/'.repeat(8)}`, hook);
  const failing = `https://${longHost}/hooks/accidents`;
  await us.register(failing, hook);
  for (const name of [manyWords, oneWord]) {
    const { id } = await operator.call('POST /accounts/:id/channels', {
      ...of,
      body: { name, kind: 'https', url: failing, accidentLevels: [1, 2, 3] },
    });
    await operator.call('POST /channels/:id/test', { id });
  }
  for (const name of ['ann', 'bartholomew-featherstonehaugh'])
    await operator.call('POST /accounts/:id/users', { ...of, body: { email: email(name) } });
  await operator.call('POST /accounts/:id/tokens', { ...of, body: { name: manyWords } });
  const link = { ...of, body: { name: oneWord } };
  const { url: connectUrl } = await operator.call('POST /accounts/:id/connect-links', link);

  await us.send(recordsOf(media.url));
  const pulled = { provider: 'samsara', credential: 'samsara_api_made_up', baseUrl: media.url };
  const connection = { ...of, body: { ...pulled, name: manyWords, historyDays: 30 } };
  await operator.call('POST /accounts/:id/connections', connection);
  await operator.call('POST /accounts/:id/exports', { ...of, body: {} });

  const accidents = await us.get<{ eventId: string; notificationLevel: number }[]>('/accidents');
  const reported =
    accidents.find(({ notificationLevel }) => notificationLevel === 3)?.eventId ?? '';
  const isSettled = async () => {
    await fetch(`${stack.baseUrl}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`); // which copies it
    const { evidence } = await us.get<{ evidence: { state: string }[] }>(`/accidents/${reported}`);
    return ['stored', 'missed'].every((wanted) => evidence.some(({ state }) => state === wanted));
  };
  await until('evidence is stored, and missed', isSettled, 60);
  return {
    accountId: us.accountId,
    /** Pages that no other links to, or that are to be looked at in any case. */
    paths: [connectUrl.replace(stack.baseUrl, ''), `/portal/accidents/${reported}`],
    stop() {
      media.stop();
      receiver.stop();
    },
  };
}

const hook = {
  notificationTypes: [1, 2],
  headers: { [`X-${oneWord}`]: oneWord },
  filters: { vehicleGroups: groups },
};

const fleetOf = () => {
  const vehicles = [samsaraVehicle(1, { name: manyWords }), samsaraVehicle(2, { name: oneWord })];
  const drivers = [samsaraDriver(1, { name: oneWord })];
  const at = Date.now() - 86_400_000;
  const events = vehicles.map((one) => samsaraEvent(one, oneWord, at));
  const trips = vehicles.map((one) => samsaraTrip(one, at));
  const token = 'samsara_api_made_up';
  return { organisation: manyWords, token, vehicles, drivers, trips, events };
};

/** Two vehicles, drivers and trips with many events and more accidents than an overview lists. */
const recordsOf = (media: string) => {
  const both = [manyWords, oneWord].map((name, i) => ({ name, sourceId: `${i}-${oneWord}` }));
  const vins = ['1FUJGLDR5CLBP8834', '1FUJGLDR5CLBP8835'];
  const driven = both.map(({ sourceId }) => ({ vehicle: sourceId, driver: sourceId }));
  const crash = (i: number, more: object = {}) =>
    accident({
      sourceId: `crash-${i}`,
      vin: vins[i % 2],
      ...{
        eventTime: ago(30 + i),
        location: place(-117.5),
        maxSpeedKph: 104,
        severity: 'critical',
      },
      ...more,
    });
  return [
    ...both.map((names, i) =>
      vehicle({
        ...names,
        vin: vins[i],
        groups,
        make: 'Western Star Trucks Incorporated',
        model: oneWord,
        year: 2024,
        licensePlate: 'WWWWWWWWWWWWWWWW',
        fuelType: 'hybrid diesel',
        odometerKm: 1_234_567.8,
        lastLocation: { ...place(-117.4), timestamp: ago(3), speedKph: 88 },
      }),
    ),
    ...both.map((names) =>
      driver({
        ...names,
        email: email('bartholomew-featherstonehaugh'),
        phone: '+1 303 555 0100 ext. 12345',
        licenseState: 'CA',
        licenseNumber: 'D1234567890123456789',
      }),
    ),
    ...driven.map((ids, i) =>
      trip({
        ...ids,
        sourceId: `trip-${i}`,
        startedAt: ago(120),
        endedAt: ago(5),
        startLocation: place(-117.9),
        endLocation: place(-117.1),
        distanceKm: 150.4,
      }),
    ),
    ...times(24, (i) =>
      safetyEvent({
        ...driven[i % 2],
        sourceId: `event-${i}`,
        trip: `trip-${i % 2}`,
        startedAt: ago(6 + 4 * i),
        incidentTypes: i % 3 ? incidentTypes : [oneWord],
        eventRisk: 1 + (i % 5),
        location: place(-117.8 + i / 40),
        maxSpeedKph: 140.4,
        speedLimitKph: 88,
        recipients: ['ann', 'bea', 'cem', 'bartholomew-featherstonehaugh'].map(email),
      }),
    ),
    ...times(6, (i) => crash(i, { driver: driven[i % 2]?.driver })),
    crash(7, { notificationLevel: 2 }),
    crash(8, {
      notificationLevel: 3,
      reportUrl: `https://${longHost}/reports/8`,
      evidence: [
        { kind: 'document', url: mediaLink(media, 'cab.jpg', -60), camera: oneWord },
        { kind: 'video', url: `https://${longHost}/a.mp4`, camera: manyWords },
        ...['road.mp4', 'cab.jpg'].map((name) => ({
          kind: name === 'cab.jpg' ? 'photo' : 'video',
          url: mediaLink(media, name as 'cab.jpg'),
          camera: manyWords,
          takenAt: ago(38),
        })),
      ],
    }),
  ];
};
