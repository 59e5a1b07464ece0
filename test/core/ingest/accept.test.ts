import { type Field, isOmissible } from '#src/core/fleet/lists/field.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { acceptRecords } from '#src/core/ingest/accept.ts';
import { hourMs } from '#src/core/platform/durations.ts';
import { deliveriesOf } from '#test/support/deliveries.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { type WebhookOut, webhookBody, worldBefore } from '#test/support/world.ts';

const bad: unknown[] = [
  'a\u0000\tb',
  '\ud800b',
  'x'.repeat(5000),
  'n/a',
  true,
  -1,
  1e300,
  20_261_120_200_000,
  { value: { value: 1 } },
  [[{ latitude: 1 }]],
  [{}, 'x'.repeat(500)],
];
const blank = [null, '', ' \t', '\u0000', '\u200b\u200e'];

/** An example of a kind, which began a moment ago: nobody is notified of an old event. */
function exampleOf(kind: string): object {
  const example = recordKinds.find((one) => one.kind === kind)?.recordExample ?? {};
  const [startedAt, endedAt] = [0, 2].map((hours) =>
    new Date(Date.now() + hours * hourMs).toISOString(),
  );
  return 'startedAt' in example ? { ...example, startedAt, endedAt } : example;
}

const fields = recordKinds.flatMap(({ kind, recordFields }) =>
  Object.entries(recordFields).map(([name, field]) => [kind, name, field] as const),
);
const optional = fields.filter(([, , field]) => isOmissible(field));
const required = fields.filter(([, , field]) => !isOmissible(field));

/** What cannot be a VIN is told of later. */
const isGood = (name: string, { holds }: Field, value: unknown): boolean =>
  name === 'vin' ? value === 'n/a' : holds === 'boolean' && typeof value === 'boolean';

describe('a bad value of an optional field', () => {
  const us = worldBefore(beforeAll);
  let hook: WebhookOut;
  beforeAll(async () => {
    receiver();
    hook = (await us.api.post<WebhookOut>('/webhook', webhookBody(us))).data;
    await us.send(...recordKinds.map(({ kind }) => exampleOf(kind)));
  });

  it('costs no record, and no notification of an event or an accident', async () => {
    const sent = [...bad, ...blank].flatMap((value) =>
      optional.map(([kind, name], i) => ({
        ...exampleOf(kind),
        sourceId: `${i} ${value}`,
        [name]: value,
      })),
    );
    for (let at = 0; at < sent.length; at += 500) {
      const part = sent
        .slice(at, at + 500)
        .map((record, i) => ({ ...record, sourceId: `${at + i}` }));
      const { data } = await us.send(...part);
      expect(data).toMatchObject({ accepted: part.length, unchanged: 0, rejected: [] });
    }
    const news = sent.filter(
      (record) => 'incidentTypes' in record || 'notificationLevel' in record,
    );
    const falseAlarms = ['dismissed', 'withdrawn'].flatMap(() =>
      bad.filter((value) => value === true),
    );
    expect(await deliveriesOf(hook.id)).toHaveLength(news.length - falseAlarms.length + 2);
  });

  it.each(optional)('of a %s: a warning names %s, unless it is blank', (kind, name, field) => {
    const named = (value: unknown) => {
      const { warnings } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
      return new Set(warnings.map(({ field }) => field.split('.')[0]));
    };
    for (const value of bad)
      expect([value, ...named(value)]).toEqual([
        value,
        ...(isGood(name, field, value) ? [] : [name]),
      ]);
    for (const value of blank) expect([value, ...named(value)]).toEqual([value]);
  });
});

it.each(required)('a %s without a usable %s is refused by name', (kind, name, field) => {
  const unusable = bad.filter((value) => typeof value !== 'string' && !isGood(name, field, value));
  for (const value of [...blank, undefined, ...unusable]) {
    const { accepted, rejected } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
    const isText = (field.holds === 'text' || field.holds === 'uuid') && typeof value === 'number';
    if (isText && Number.isSafeInteger(value)) expect(accepted).toHaveLength(1);
    else
      expect([value, rejected]).toMatchObject([
        value,
        [{ message: expect.stringContaining(name) }],
      ]);
  }
});

const place = { latitude: 40.2, longitude: -77.1 };
const at = '2026-11-20T20:00:00Z';
const ms = Date.parse(at);
const long = 'é'.repeat(300);
const wide = 'é'.repeat(100);
const ending = (more: object) => trip({ endLocation: { ...place, ...more } });
const lastSeen = { ...place, address: long, timestamp: at, speedKph: -1 };
const drive = (more: object) => trip({ startedAt: at, endedAt: '2026-11-20T21:00:00Z', ...more });
const mailed = safetyEvent({ recipients: ['n/a', ' ann@example.com\n'] });

it.each<[what: string, record: object, kept: object, warning?: string]>([
  ['a name with a tab and a NUL', vehicle({ name: 'Truck\t7\u0000' }), { name: 'Truck 7' }, 'name'],
  ['a name of too many bytes', vehicle({ name: long }), { name: wide }, 'name'],
  ['a name of emoji', vehicle({ name: '🚚'.repeat(60) }), { name: '🚚'.repeat(50) }, 'name'],
  ['a name that is too long', driver({ name: long }), { name: long.slice(0, 200) }, 'name'],
  ['a number as sourceId', vehicle({ sourceId: 42 }), { sourceId: '42' }, 'sourceId'],
  ['a plate with blanks', vehicle({ licensePlate: ' AB 1 ' }), { licensePlate: 'AB 1' }],
  [
    'a plate that is too long',
    vehicle({ licensePlate: long }),
    { licensePlate: undefined },
    'licensePlate',
  ],
  ['a VIN with NULs', vehicle({ vin: '1FUJ\u0000\u0000' }), { vin: '1FUJ' }, 'vin'],
  [
    'an id with characters that nobody sees',
    vehicle({ sourceId: '\u200b7\u200e\ufeff' }),
    { sourceId: '7' },
  ],
  ['a reference like that', trip({ vehicle: 'truck\u00ad-1\u200b' }), { vehicle: 'truck-1' }],
  ['a plate like that', vehicle({ licensePlate: 'AB\u200d 1' }), { licensePlate: 'AB 1' }],
  ['a name of nothing', vehicle({ name: '(null)' }), { name: undefined }, 'name'],
  [
    'a plate of nothing',
    vehicle({ licensePlate: '#N/A' }),
    { licensePlate: undefined },
    'licensePlate',
  ],
  ['a driver of nothing', trip({ driver: 'NaN' }), { driver: undefined }, 'driver'],
  ['a rounded number', driver({ phone: '4.91512E+11' }), { phone: undefined }, 'phone'],
  [
    'a kind in another spelling',
    { ...safetyEvent(), kind: 'Safety_Event' },
    { kind: 'safetyEvent' },
    'kind',
  ],
  [
    'a comma of decimals',
    accident({ accelerationG: '-3,25' }),
    { accelerationG: 3.25 },
    'accelerationG',
  ],
  [
    'decimals that could be thousands elsewhere',
    ending({ latitude: '40,213' }),
    { endLocation: { ...place, latitude: 40.213 } },
    'endLocation.latitude',
  ],
  ['a year with a comma', vehicle({ year: '2,024' }), { year: 2024 }, 'year'],
  [
    'what can be thousands',
    vehicle({ odometerKm: '184,220' }),
    { odometerKm: undefined },
    'odometerKm',
  ],
  ['an exponent', accident({ maxSpeedKph: '8.8e1' }), { maxSpeedKph: 88 }, 'maxSpeedKph'],
  ['a yes', accident({ dismissed: 'Yes' }), { dismissed: true }, 'dismissed'],
  ['a time of Java', trip({ startedAt: '2026-11-20T20:00Z' }), { startedAt: ms }, 'startedAt'],
  ['seconds since 1970', trip({ startedAt: ms / 1000 }), { startedAt: ms }, 'startedAt'],
  [
    'a time of Postgres',
    vehicle({ lastLocation: { ...place, timestamp: '2026-11-20 20:00:00+00' } }),
    { lastLocation: { ...place, timestamp: '2026-11-20T20:00:00.000Z' } },
    'lastLocation.timestamp',
  ],
  ['metres for kilometres', drive({ distanceKm: 42_700 }), { distanceKm: null }, 'distanceKm'],
  ['a fast drive', drive({ distanceKm: 250 }), { distanceKm: 250 }],
  ['a distance in no time', drive({ endedAt: at, distanceKm: 4 }), { distanceKm: 4 }],
  [
    'metres in a time without an end',
    trip({ durationSeconds: 3600, distanceKm: 42_700 }),
    { distanceKm: null },
    'distanceKm',
  ],
  ['a distance of no time', trip({ distanceKm: 42_700 }), { distanceKm: 42_700 }],
  [
    'milliseconds for seconds',
    drive({ durationSeconds: 3_600_000 }),
    { durationSeconds: null },
    'durationSeconds',
  ],
  ['a duration', drive({ durationSeconds: 3600 }), { durationSeconds: 3600 }],
  ['a VIN that is too long', vehicle({ vin: 'X'.repeat(41) }), { vin: undefined }, 'vin'],
  ['an old year', vehicle({ year: 1899 }), { year: undefined }, 'year'],
  ['half a year', vehicle({ year: 2020.5 }), { year: undefined }, 'year'],
  ['a year as text', vehicle({ year: ' 2024 ' }), { year: 2024 }, 'year'],
  ['an unknown status', vehicle({ status: 'parked' }), { status: undefined }, 'status'],
  ['a status in words', driver({ status: 'Inactive' }), { status: 0 }, 'status'],
  ['a blank group', vehicle({ groups: ['North', ''] }), { groups: ['North'] }],
  [
    'a group that is none',
    vehicle({ groups: ['North', {}, 7] }),
    { groups: ['North', '7'] },
    'groups',
  ],
  ['a group not in a list', vehicle({ groups: 'North' }), { groups: ['North'] }, 'groups'],
  [
    'too many groups',
    vehicle({ groups: Array(30).fill('a') }),
    { groups: Array(20).fill('a') },
    'groups',
  ],
  ['long groups', vehicle({ groups: [wide, 'é'.repeat(47), 'b'] }), { groups: [wide] }, 'groups'],
  ['a million groups', vehicle({ groups: Array(300_000).fill({}) }), { groups: [] }, 'groups'],
  [
    'a place with a long address',
    vehicle({ lastLocation: lastSeen }),
    {
      lastLocation: {
        ...place,
        address: long.slice(0, 200),
        timestamp: '2026-11-20T20:00:00.000Z',
      },
    },
    'lastLocation.address',
  ],
  [
    'no time',
    vehicle({ lastLocation: place }),
    { lastLocation: undefined },
    'lastLocation.timestamp',
  ],
  [
    'a latitude of 91',
    ending({ latitude: 91 }),
    { endLocation: undefined },
    'endLocation.latitude',
  ],
  ['a place as text', ending({ latitude: '40.2' }), { endLocation: place }, 'endLocation.latitude'],
  ['a place without address', ending({ address: '' }), { endLocation: place }],
  [
    'the position 0, 0',
    ending({ latitude: 0, longitude: 0 }),
    { endLocation: undefined },
    'endLocation',
  ],
  [
    'an end before the start',
    trip({ endedAt: '2026-11-20T18:00:00Z' }),
    { endedAt: null },
    'endedAt',
  ],
  [
    'a version of tomorrow',
    trip({ sourceUpdatedAt: '2126-01-01T00:00:00Z' }),
    { sourceUpdatedAt: undefined },
    'sourceUpdatedAt',
  ],
  ['a distance of -1', trip({ distanceKm: -1 }), { distanceKm: undefined }, 'distanceKm'],
  [
    'an ISO 8601 offset',
    trip({ startedAt: '2026-11-20T15:00:00-0500' }),
    { startedAt: ms },
    'startedAt',
  ],
  [
    'a blank in a time',
    accident({ eventTime: '2026-11-20 20:00:00+00' }),
    { eventTime: ms },
    'eventTime',
  ],
  [
    'an empty driver',
    safetyEvent({ driver: '', endedAt: '' }),
    { driver: undefined, endedAt: undefined },
  ],
  ['no incident types', safetyEvent({ incidentTypes: undefined }), { incidentTypes: undefined }],
  [
    'one type',
    safetyEvent({ incidentTypes: 'crash' }),
    { incidentTypes: ['crash'] },
    'incidentTypes',
  ],
  ['an odd recipient', mailed, { recipients: ['ann@example.com'] }, 'recipients'],
  ['an email address that is none', driver({ email: 'n/a' }), { email: undefined }, 'email'],
  ['a severity in another case', accident({ severity: 'High' }), { severity: 'high' }, 'severity'],
  [
    'a negative acceleration',
    accident({ accelerationG: -3.9 }),
    { accelerationG: 3.9 },
    'accelerationG',
  ],
  ['a truth as text', accident({ dismissed: 'True' }), { dismissed: true }, 'dismissed'],
  [
    'a report over http',
    accident({ reportUrl: 'http://a.example/1' }),
    { reportUrl: undefined },
    'reportUrl',
  ],
  [
    'a level as text',
    accident({ notificationLevel: '2' }),
    { notificationLevel: 2 },
    'notificationLevel',
  ],
])('%s is kept as far as it can be used', (_, record, kept, warning) => {
  const { accepted, warnings } = acceptRecords([record]);
  expect(accepted[0]?.record).toMatchObject(kept);
  expect(warnings[0]?.field).toBe(warning);
});

it('an accident is refused for the VIN that it has, if that cannot be used', () => {
  const { rejected } = acceptRecords([accident({ vin: 'X'.repeat(41) }), accident({ vin: ' ' })]);
  expect(rejected.map(({ message }) => message)).toEqual([
    'vin can be at most 40 characters, and the accident names no vehicle',
    'vin is required, unless the accident names its vehicle',
  ]);
});

it('a warning says what was wrong and what became of the value, and never quotes it', () => {
  const { warnings } = acceptRecords([
    driver({ email: 'secret', phone: 'secret\u0000', licenseNumber: { secret: 1 } }),
    { kind: 'nothing' },
  ]);
  expect(warnings).toEqual([
    {
      index: 0,
      field: 'email',
      message: 'must be an email address; its value was dropped',
      severity: 'dropped',
    },
    {
      index: 0,
      field: 'phone',
      message: 'must not contain control characters; its value was corrected',
      severity: 'corrected',
    },
    {
      index: 0,
      field: 'licenseNumber',
      message: 'must be a string; its value was dropped',
      severity: 'dropped',
    },
  ]);
});
