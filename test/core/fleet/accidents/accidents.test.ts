import { env } from 'cloudflare:workers';
import { settled } from '#test/support/deliveries.ts';
import { signIn } from '#test/support/portal.ts';
import { accident, driver, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';

const { us, heard, send, register } = story();
const ingest = async (...records: object[]) => (await send(...records)).data;
const at = (hour: number) => ({ sourceUpdatedAt: `2026-11-21T${hour}:00:00Z` });
const elsewhere = { latitude: 1, longitude: 2 };
type Accident = {
  eventId: string;
  vehicleId: string | null;
  levels: { notificationLevel: number; receivedAt: string }[];
  [key: string]: unknown;
};
const list = async (query = '') => (await us.api.get<Accident[]>(`/accidents${query}`)).data;
const only = async () => {
  const [first, ...others] = await list();
  expect(others).toEqual([]);
  return first;
};

/** The levels that the webhook has been notified of, in order, each with a question mark unless it is accurate. */
const notified = async (hookId: string, count: number) => {
  await settled(hookId, count);
  const levels = heard.got.map(
    ({ body: { data } }) => `${data.notificationLevel}${data.isAccurate ? '' : '?'}`,
  );
  return levels.sort().join(' ');
};

describe('an accident in the list', () => {
  it('has what a claim needs as far as known, each of the newest version that says it', async () => {
    const nothing = { vehicleName: null, licensePlate: null, driverId: null, driverName: null };
    await ingest(accident());
    expect(await only()).toMatchObject({
      ...nothing,
      maxSpeedKph: null,
      severity: null,
      detectedAt: null,
    });
    await ingest(
      vehicle(),
      accident({ ...at(12), driver: 'driver-1', maxSpeedKph: 80, severity: 'low' }),
    );
    expect(await only()).toMatchObject({
      vehicleName: 'Truck 1',
      driverName: null,
      maxSpeedKph: 80,
    });
    await ingest(driver(), vehicle({ name: 'Renamed' }), accident({ ...at(13), severity: 'high' }));
    const known = { vehicleName: 'Truck 1', driverName: 'Ann', maxSpeedKph: 80, severity: 'high' };
    expect(await only()).toMatchObject(known);
    await ingest(accident({ ...at(11), maxSpeedKph: 50, accelerationG: 2.5 }));
    expect(await only()).toMatchObject({ ...known, accelerationG: 2.5 });
    const found = await only();
    expect(await list(`?driverIds=${found?.driverId}`)).toHaveLength(1);
    expect(await list(`?driverIds=${crypto.randomUUID()}`)).toEqual([]);
  });

  it('has each of its levels once, in order, and what the highest says', async () => {
    await ingest(accident({ notificationLevel: 3 }));
    const [before] = await list();
    expect(
      await ingest(accident({ notificationLevel: 1 }), accident({ notificationLevel: 3 })),
    ).toMatchObject({
      accepted: 1,
      unchanged: 1,
    });
    const item = await only();
    expect(item).toMatchObject({ notificationLevel: 3, reportReady: true, isAccurate: true });
    expect(item?.levels.map(({ notificationLevel }) => notificationLevel)).toEqual([1, 3]);
    expect(item?.levels[1]).toEqual(before?.levels[0]);
    expect(item?.createdAt).toBe(before?.createdAt);
  });

  it('has vin, time and place of the newest version, whichever comes last', async () => {
    await ingest(accident({ ...at(12), location: elsewhere }));
    await ingest(
      accident({
        ...at(11),
        notificationLevel: 2,
        vin: 'OLDER1',
        eventTime: '2026-11-19T00:00:00Z',
      }),
    );
    expect(await only()).toMatchObject({
      notificationLevel: 2,
      vin: '1FUJGLDR5CLBP8834',
      eventTime: '2026-11-20T20:00:00.000Z',
      location: elsewhere,
    });
    await ingest(accident({ ...at(13), vin: 'LATEST1' }));
    expect(await only()).toMatchObject({ vin: 'LATEST1', notificationLevel: 2 });
  });

  it('has vin, time and place of its highest level if no version is newer', async () => {
    const call = [accident({ vin: 'FIRST1' }), accident({ notificationLevel: 2, vin: 'SECOND1' })];
    expect(await ingest(...call)).toMatchObject({ accepted: 2 });
    expect(await ingest(...call)).toMatchObject({ accepted: 0, unchanged: 2 });
    expect(await only()).toMatchObject({ vin: 'SECOND1' });
    await ingest(accident({ notificationLevel: 2, vin: 'CORRECTED1' }));
    expect(await only()).toMatchObject({ vin: 'CORRECTED1' });
  });

  it('keeps its report until a newer version has another', async () => {
    const [first, second] = ['https://a.example.com/', 'https://b.example.com/'];
    await ingest(accident({ ...at(11), reportUrl: first }));
    await ingest(accident({ ...at(13), notificationLevel: 2 }));
    expect(await only()).toMatchObject({ reportUrl: first });
    await ingest(accident({ ...at(14), reportUrl: second }));
    await ingest(accident({ ...at(12), reportUrl: first }));
    expect(await only()).toMatchObject({ reportUrl: second });
  });

  it.each(['http://reports.example.com/', 'javascript:alert(1)'])(
    'has no report instead of %s',
    async (reportUrl) => {
      expect(await ingest(accident({ reportUrl }))).toMatchObject({ accepted: 1 });
      expect(await only()).toMatchObject({ reportUrl: null });
    },
  );

  it('is not there if it was only simulated', async () => {
    const hook = await register();
    const { post } = await signIn(us);
    await post(`/portal/webhooks/${hook.id}/test-accident`);
    await settled(hook.id, 3);
    expect(await list()).toEqual([]);
  });
});

/** A record by its level, an `x` if it is a false alarm, and the hour of its version: `2x@11`. */
function recordOf(text: string) {
  const [, level, isDismissed, hour] = /^(\d)(x?)(?:@(\d+))?$/.exec(text) ?? [];
  const version = hour ? at(Number(hour)) : {};
  return accident({
    notificationLevel: Number(level),
    ...(isDismissed && { dismissed: true }),
    ...version,
  });
}

it.each([
  ['after level 1 is notified as a level 2 that is not accurate, once', '1 1x 1x', '.xx', '1? 2?'],
  ['after level 2 is notified no more, nor is its level 3', '2 2x 3x', '.xx', '2'],
  [
    'that nobody was notified of is not, until a newer version ends it',
    '1x@11 1@10 1@12',
    'xx.',
    '1?',
  ],
  ['is reopened by a later level, but not by a repeated one', '1 1x 1 2 3', '.xx..', '1? 2? 3'],
  ['in an older version changes nothing', '1@12 1x@11 2x@11 3@13', '....', '1? 3'],
])('a false alarm %s', async (_, records, states, expected) => {
  const hook = await register();
  const levels = new Set<number>();
  for (const [i, text] of records.split(' ').entries()) {
    await ingest(recordOf(text));
    levels.add(Number(text[0]));
    const item = await only();
    const dismissed = states[i] === 'x';
    expect(item).toMatchObject({ dismissed, notificationLevel: Math.max(...levels) });
    expect(item?.levels.map(({ notificationLevel }) => notificationLevel)).toEqual([...levels]);
    if (dismissed) expect(item?.isAccurate).toBe(false);
  }
  await ingest(accident({ sourceId: 'another' })); // everything before it has been notified by then
  expect(await notified(hook.id, expected.split(' ').length + 1)).toBe(`1? ${expected}`);
});

it('two calls that race tell each level once', async () => {
  const hook = await register();
  const levels = [1, 2, 3].map((notificationLevel) => accident({ notificationLevel }));
  const outcomes = await Promise.all([
    ingest(...levels),
    ingest(...levels.toReversed()),
    ingest(...levels),
  ]);
  expect(outcomes.map(({ accepted }) => accepted).sort()).toEqual([0, 0, 3]);
  expect(await notified(hook.id, 3)).toBe('1? 2 3');
});

it('a call that fails before its accident is stored can be sent again, and tells it once', async () => {
  const hook = await register();
  const call = () => send(vehicle(), accident());
  await env.DB.exec(
    `create trigger full before insert on accidents begin select raise(abort, 'full'); end`,
  );
  expect((await call()).status).toBe(500);
  await env.DB.exec('drop trigger full');
  expect(await list()).toEqual([]);
  expect((await call()).data).toMatchObject({ accepted: 1, unchanged: 1 });
  expect((await call()).data).toMatchObject({ accepted: 0, unchanged: 2 });
  expect(await notified(hook.id, 1)).toBe('1?');
});
