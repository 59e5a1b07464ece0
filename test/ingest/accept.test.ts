import { type Field, isOmissible } from '../../src/fleet/lists/field.ts';
import { recordKinds } from '../../src/fleet/lists/registry.ts';
import { acceptRecords } from '../../src/ingest/accept.ts';
import { deliveriesOf } from '../support/deliveries.ts';
import { receiver } from '../support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../support/records.ts';
import { type WebhookOut, webhookBody, worldBefore } from '../support/world.ts';

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
const blank = [null, '', ' \t', '\u0000'];

/** An example of a kind, which began a moment ago: nobody is notified of an old event. */
function exampleOf(kind: string): object {
  const example = recordKinds.find((one) => one.kind === kind)?.recordExample ?? {};
  const now = new Date().toISOString();
  return 'startedAt' in example ? { ...example, startedAt: now, endedAt: now } : example;
}

const fields = recordKinds.flatMap(({ kind, recordFields }) =>
  Object.entries(recordFields).map(([name, field]) => [kind, name, field] as const),
);
const optional = fields.filter(([, , field]) => isOmissible(field));
const required = fields.filter(([, , field]) => !isOmissible(field));

const notAnyText = ['email', 'reportUrl', 'status', 'severity'];

const isGood = (name: string, { holds }: Field, value: unknown): boolean =>
  holds === 'boolean'
    ? typeof value === 'boolean'
    : value === 'n/a' && (holds === 'text' || holds === 'uuid') && !notAnyText.includes(name);

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
      optional.map(([kind, name], i) => ({ ...exampleOf(kind), sourceId: `${i} ${value}`, [name]: value })),
    );
    for (let at = 0; at < sent.length; at += 500) {
      const part = sent.slice(at, at + 500).map((record, i) => ({ ...record, sourceId: `${at + i}` }));
      const { data } = await us.send(...part);
      expect(data).toMatchObject({ accepted: part.length, unchanged: 0, rejected: [] });
    }
    const news = sent.filter((record) => 'incidentTypes' in record || 'notificationLevel' in record);
    const falseAlarms = ['dismissed', 'withdrawn'].flatMap(() => bad.filter((value) => value === true));
    expect(await deliveriesOf(hook.id)).toHaveLength(news.length - falseAlarms.length + 2);
  });

  it.each(optional)('of a %s: a warning names %s, unless it is blank', (kind, name, field) => {
    const named = (value: unknown) => {
      const { warnings } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
      return new Set(warnings.map(({ field }) => field.split('.')[0]));
    };
    for (const value of bad)
      expect([value, ...named(value)]).toEqual([value, ...(isGood(name, field, value) ? [] : [name])]);
    for (const value of blank) expect([value, ...named(value)]).toEqual([value]);
  });
});

it.each(required)('a %s without a usable %s is refused by name', (kind, name, field) => {
  const unusable = bad.filter((value) => typeof value !== 'string' && !isGood(name, field, value));
  for (const value of [...blank, undefined, ...unusable]) {
    const { accepted, rejected } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
    const isText = (field.holds === 'text' || field.holds === 'uuid') && typeof value === 'number';
    if (isText && Number.isSafeInteger(value)) expect(accepted).toHaveLength(1);
    else expect([value, rejected]).toMatchObject([value, [{ message: expect.stringContaining(name) }]]);
  }
});

const place = { latitude: 40.2, longitude: -77.1 };
const at = '2026-11-20T20:00:00Z';
const ms = Date.parse(at);
const long = 'é'.repeat(300);
const wide = 'é'.repeat(100);
const ending = (more: object) => trip({ endLocation: { ...place, ...more } });
const lastSeen = { ...place, address: long, timestamp: at, speedKph: -1 };
const mailed = safetyEvent({ recipients: ['n/a', ' ann@example.com\n'] });

it.each<[what: string, record: object, kept: object, warning?: string]>([
  ['a name with a tab and a NUL', vehicle({ name: 'Truck\t7\u0000' }), { name: 'Truck 7' }, 'name'],
  ['a name of too many bytes', vehicle({ name: long }), { name: wide }, 'name'],
  ['a name of emoji', vehicle({ name: '🚚'.repeat(60) }), { name: '🚚'.repeat(50) }, 'name'],
  ['a name that is too long', driver({ name: long }), { name: long.slice(0, 200) }, 'name'],
  ['a number as sourceId', vehicle({ sourceId: 42 }), { sourceId: '42' }, 'sourceId'],
  ['a plate with blanks', vehicle({ licensePlate: ' AB 1 ' }), { licensePlate: 'AB 1' }],
  ['a plate that is too long', vehicle({ licensePlate: long }), { licensePlate: undefined }, 'licensePlate'],
  ['a VIN with NULs', vehicle({ vin: '1FUJ\u0000\u0000' }), { vin: '1FUJ' }, 'vin'],
  ['a VIN that is too long', vehicle({ vin: 'X'.repeat(41) }), { vin: undefined }, 'vin'],
  ['an old year', vehicle({ year: 1899 }), { year: undefined }, 'year'],
  ['half a year', vehicle({ year: 2020.5 }), { year: undefined }, 'year'],
  ['a year as text', vehicle({ year: ' 2024 ' }), { year: 2024 }, 'year'],
  ['an unknown status', vehicle({ status: 'parked' }), { status: undefined }, 'status'],
  ['a status in words', driver({ status: 'Inactive' }), { status: 0 }, 'status'],
  ['a blank group', vehicle({ groups: ['North', ''] }), { groups: ['North'] }],
  ['a group that is none', vehicle({ groups: ['North', {}, 7] }), { groups: ['North', '7'] }, 'groups'],
  ['a group not in a list', vehicle({ groups: 'North' }), { groups: ['North'] }, 'groups'],
  ['too many groups', vehicle({ groups: Array(30).fill('a') }), { groups: Array(20).fill('a') }, 'groups'],
  ['long groups', vehicle({ groups: [wide, 'é'.repeat(47), 'b'] }), { groups: [wide] }, 'groups'],
  ['a million groups', vehicle({ groups: Array(300_000).fill({}) }), { groups: [] }, 'groups'],
  [
    'a place with a long address',
    vehicle({ lastLocation: lastSeen }),
    { lastLocation: { ...place, address: long.slice(0, 200), timestamp: '2026-11-20T20:00:00.000Z' } },
    'lastLocation.address',
  ],
  ['no time', vehicle({ lastLocation: place }), { lastLocation: undefined }, 'lastLocation.timestamp'],
  ['a latitude of 91', ending({ latitude: 91 }), { endLocation: undefined }, 'endLocation.latitude'],
  ['a place as text', ending({ latitude: '40.2' }), { endLocation: place }, 'endLocation.latitude'],
  ['a place without address', ending({ address: '' }), { endLocation: place }],
  ['the position 0, 0', ending({ latitude: 0, longitude: 0 }), { endLocation: undefined }, 'endLocation'],
  ['an end before the start', trip({ endedAt: '2026-11-20T18:00:00Z' }), { endedAt: null }, 'endedAt'],
  [
    'a version of tomorrow',
    trip({ sourceUpdatedAt: '2126-01-01T00:00:00Z' }),
    { sourceUpdatedAt: undefined },
    'sourceUpdatedAt',
  ],
  ['a distance of -1', trip({ distanceKm: -1 }), { distanceKm: undefined }, 'distanceKm'],
  ['an ISO 8601 offset', trip({ startedAt: '2026-11-20T15:00:00-0500' }), { startedAt: ms }, 'startedAt'],
  ['a blank in a time', accident({ eventTime: '2026-11-20 20:00:00+00' }), { eventTime: ms }, 'eventTime'],
  ['an empty driver', safetyEvent({ driver: '', endedAt: '' }), { driver: undefined, endedAt: undefined }],
  ['no incident types', safetyEvent({ incidentTypes: undefined }), { incidentTypes: undefined }],
  ['one type', safetyEvent({ incidentTypes: 'crash' }), { incidentTypes: ['crash'] }, 'incidentTypes'],
  ['an odd recipient', mailed, { recipients: ['ann@example.com'] }, 'recipients'],
  ['an email address that is none', driver({ email: 'n/a' }), { email: undefined }, 'email'],
  ['a severity in another case', accident({ severity: 'High' }), { severity: 'high' }, 'severity'],
  ['a negative acceleration', accident({ accelerationG: -3.9 }), { accelerationG: 3.9 }, 'accelerationG'],
  ['a truth as text', accident({ dismissed: 'True' }), { dismissed: true }, 'dismissed'],
  [
    'a report over http',
    accident({ reportUrl: 'http://a.example/1' }),
    { reportUrl: undefined },
    'reportUrl',
  ],
  ['a level as text', accident({ notificationLevel: '2' }), { notificationLevel: 2 }, 'notificationLevel'],
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
    { index: 0, field: 'email', message: 'must be an email address; its value was dropped' },
    { index: 0, field: 'phone', message: 'must not contain control characters; its value was corrected' },
    { index: 0, field: 'licenseNumber', message: 'must be a string; its value was dropped' },
  ]);
});
