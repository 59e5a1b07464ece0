import { type Field, isOmissible } from '#src/core/fleet/lists/field.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { acceptRecords } from '#src/core/ingest/accept.ts';
import {
  accident,
  deliveriesOf,
  driver,
  hourMs,
  receiver,
  register,
  safetyEvent,
  trip,
  vehicle,
  type WebhookOut,
  worldBefore,
} from '#test/support.ts';

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
const blank: unknown[] = [null, '', ' \t', '\u0000', '\u200b\u200e'];

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
    hook = await register(us);
    await us.send(...recordKinds.map(({ kind }) => exampleOf(kind)));
  });

  it('costs no record, and no notification of an event or an accident', async () => {
    const values = [...bad, ...blank];
    const sent = optional
      .flatMap(([kind, name]) => values.map((value) => ({ ...exampleOf(kind), [name]: value })))
      .map((record, i) => ({ ...record, sourceId: `${i}` }));
    for (let at = 0; at < sent.length; at += 500) {
      const part = sent.slice(at, at + 500);
      const { data } = await us.send(...part);
      expect(data).toMatchObject({ accepted: part.length, unchanged: 0, rejected: [] });
    }
    const news = sent.filter(
      (record) => 'incidentTypes' in record || 'notificationLevel' in record,
    );
    const falseAlarms = ['dismissed: true', 'withdrawn: true'];
    const examples = ['safetyEvent', 'accident'];
    const notified = news.length - falseAlarms.length + examples.length;
    expect(await deliveriesOf(hook.id)).toHaveLength(notified);
  });

  it.each(optional)('of a %s: a warning names %s, unless it is blank', (kind, name, field) => {
    const named = (value: unknown) => {
      const { warnings } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
      return new Set(warnings.map(({ field }) => field.split('.')[0]));
    };
    for (const value of [...bad, ...blank]) {
      const isFine = blank.includes(value as string) || isGood(name, field, value);
      expect([value, ...named(value)]).toEqual([value, ...(isFine ? [] : [name])]);
    }
  });
});

it.each(required)('a %s without a usable %s is refused by name', (kind, name, field) => {
  const unusable = bad.filter((value) => typeof value !== 'string' && !isGood(name, field, value));
  for (const value of [...blank, undefined, ...unusable]) {
    const { accepted, rejected } = acceptRecords([{ ...exampleOf(kind), [name]: value }]);
    const isText = (field.holds === 'text' || field.holds === 'uuid') && typeof value === 'number';
    if (isText && Number.isSafeInteger(value)) expect(accepted).toHaveLength(1);
    else {
      const isAbsent = blank.includes(value) || value === undefined;
      const message = isAbsent ? `${name} is required` : expect.stringContaining(name);
      expect([value, rejected[0]?.message]).toEqual([value, message]);
    }
  }
});

it('a refused record is named by its sourceId as one that is accepted, in whole characters', () => {
  const { rejected } = acceptRecords([{ sourceId: 'a\ud800' }, { sourceId: 7 }, 'record']);
  expect(rejected.map(({ sourceId }) => sourceId)).toEqual(['a', '7', null]);
});

it('a field is refused for one reason, the first', () => {
  const { rejected } = acceptRecords([trip({ sourceId: '-', startedAt: '2026-02-30T00:00:00Z' })]);
  expect(rejected.map(({ message }) => message)).toEqual([
    'sourceId must not be a placeholder or a rounded number; ' +
      'startedAt must be a time that exists, from 1970 to 9999 in UTC',
  ]);
});

const place = { latitude: 40.2, longitude: -77.1 };
const at = '2026-11-20T20:00:00Z';
const ms = Date.parse(at);
const long = 'é'.repeat(300);
const wide = 'é'.repeat(100);
const drive = (more: object) => trip({ startedAt: at, endedAt: '2026-11-20T21:00:00Z', ...more });

/** What accepting a record makes of a field, and which fields it warns of. */
function taken(make: Make, field: string, value: unknown) {
  const { accepted, warnings } = acceptRecords([make({ [field]: value })]);
  const record = accepted[0]?.record as { [field: string]: unknown } | undefined;
  return [record?.[field] ?? undefined, warnings.map((warning) => warning.field)];
}
type Make = (changes: object) => object;

it.each<[what: string, Make, field: string, value: unknown, named?: string]>([
  ['a plate that is too long', vehicle, 'licensePlate', long],
  ['a driver of nothing', trip, 'driver', 'NaN'],
  ['a rounded number', driver, 'phone', '4.91512E+11'],
  ['what can be thousands', vehicle, 'odometerKm', '184,220'],
  ['metres for kilometres', drive, 'distanceKm', 42_700],
  [
    'metres in a time without an end',
    (more) => trip({ durationSeconds: 3600, ...more }),
    'distanceKm',
    42_700,
  ],
  ['milliseconds for seconds', drive, 'durationSeconds', 3_600_000],
  ['a VIN that is too long', vehicle, 'vin', 'X'.repeat(41)],
  ['an old year', vehicle, 'year', 1899],
  ['half a year', vehicle, 'year', 2020.5],
  ['an unknown status', vehicle, 'status', 'parked'],
  ['a place without its time', vehicle, 'lastLocation', place, 'lastLocation.timestamp'],
  ['a latitude of 91', trip, 'endLocation', { ...place, latitude: 91 }, 'endLocation.latitude'],
  ['the position 0, 0', trip, 'endLocation', { latitude: 0, longitude: 0 }],
  ['an end before the start', trip, 'endedAt', '2026-11-20T18:00:00Z'],
  ['a version of tomorrow', trip, 'sourceUpdatedAt', '2126-01-01T00:00:00Z'],
  ['a distance of -1', trip, 'distanceKm', -1],
  ['a report over http', accident, 'reportUrl', 'http://a.example/1'],
  ['a million groups', vehicle, 'groups', Array(300_000).fill({})],
  ['types in an object', safetyEvent, 'incidentTypes', { type: 'crash' }],
  ['recipients without a good one', safetyEvent, 'recipients', ['n/a', '']],
])('%s is dropped with a warning', (_, make, field, value, named = field) => {
  expect(taken(make, field, value)).toEqual([undefined, [named]]);
});

it.each<[what: string, Make, field: string, value: unknown, kept: unknown, named?: string]>([
  ['a name with a tab and a NUL', vehicle, 'name', 'Truck\t7\u0000', 'Truck 7'],
  ['a name of too many bytes', vehicle, 'name', long, wide],
  ['a name of emoji', vehicle, 'name', '🚚'.repeat(60), '🚚'.repeat(50)],
  ['a name that is too long', driver, 'name', long, long.slice(0, 200)],
  ['a number as sourceId', vehicle, 'sourceId', 42, '42'],
  ['a VIN with NULs', vehicle, 'vin', '1FUJ\u0000\u0000', '1FUJ'],
  ['a kind in another spelling', safetyEvent, 'kind', 'Safety_Event', 'safetyEvent'],
  ['a comma of decimals', accident, 'accelerationG', '-3,25', 3.25],
  [
    'decimals that could be thousands elsewhere',
    trip,
    'endLocation',
    { ...place, latitude: '40,213' },
    { ...place, latitude: 40.213 },
    'endLocation.latitude',
  ],
  ['a year with a comma', vehicle, 'year', '2,024', 2024],
  ['an exponent', accident, 'maxSpeedKph', '8.8e1', 88],
  ['a yes', accident, 'dismissed', 'Yes', true],
  ['a time of Java', trip, 'startedAt', '2026-11-20T20:00Z', ms],
  [
    'a time of Postgres, and a long address',
    vehicle,
    'lastLocation',
    { ...place, address: long, timestamp: '2026-11-20 20:00:00+00' },
    { ...place, address: long.slice(0, 200), timestamp: '2026-11-20T20:00:00.000Z' },
    'lastLocation.address lastLocation.timestamp',
  ],
  ['a status in words', driver, 'status', 'Inactive', 0],
  ['a group that is none', vehicle, 'groups', ['North', {}, 7], ['North', '7']],
  ['a group not in a list', vehicle, 'groups', 'North', ['North']],
  ['too many groups', vehicle, 'groups', Array(30).fill('a'), Array(20).fill('a')],
  ['long groups', vehicle, 'groups', [wide, 'é'.repeat(47), 'b'], [wide]],
  ['one type', safetyEvent, 'incidentTypes', 'crash', ['crash']],
  [
    'an odd recipient',
    safetyEvent,
    'recipients',
    ['n/a', ' ann@example.com\n'],
    ['ann@example.com'],
  ],
  [
    'files that were taken at no time',
    accident,
    'evidence',
    [1, 2].map((n) => ({ kind: 'photo', url: `https://a.example/${n}`, takenAt: 'then' })),
    [1, 2].map((n) => ({ kind: 'photo', url: `https://a.example/${n}` })),
    'evidence.takenAt',
  ],
  ['a severity in another case', accident, 'severity', 'High', 'high'],
  ['a level as text', accident, 'notificationLevel', '2', 2],
])(
  '%s is kept as far as it can be used, with a warning',
  (_, make, field, value, kept, named = field) => {
    expect(taken(make, field, value)).toEqual([kept, named.split(' ')]);
  },
);

it.each<[what: string, Make, field: string, value: unknown, kept?: unknown]>([
  ['a plate with blanks', vehicle, 'licensePlate', ' AB 1 ', 'AB 1'],
  ['an id with characters that nobody sees', vehicle, 'sourceId', '\u200b7\u200e\ufeff', '7'],
  ['a reference like that', trip, 'vehicle', 'truck\u00ad-1\u200b', 'truck-1'],
  ['a fast drive', drive, 'distanceKm', 250],
  ['a distance in no time', (more) => drive({ endedAt: at, ...more }), 'distanceKm', 4],
  ['a distance of no time', trip, 'distanceKm', 42_700],
  ['a blank group', vehicle, 'groups', ['North', ''], ['North']],
  ['blank groups', vehicle, 'groups', ['', null], []],
  ['a place without address', trip, 'endLocation', { ...place, address: '' }, place],
  ['an empty driver', safetyEvent, 'driver', '', undefined],
  ['an empty end', safetyEvent, 'endedAt', '', undefined],
  ['no incident types', safetyEvent, 'incidentTypes', undefined],
])('%s is taken without a warning', (...[, make, field, value, ...kept]) => {
  expect(taken(make, field, value)).toEqual([kept.length ? kept[0] : value, []]);
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
  const said = [
    ['email', 'must be an email address; its value was dropped', 'dropped'],
    ['phone', 'must not contain control characters; its value was corrected', 'corrected'],
    ['licenseNumber', 'must be a string; its value was dropped', 'dropped'],
  ];
  expect(warnings).toEqual(
    said.map(([field, message, severity]) => ({ index: 0, field, message, severity })),
  );
});

it('a value that is lost in a file of an accident was dropped, although the file is kept', () => {
  const file = { kind: 'photo', url: 'https://a.example/1', takenAt: 'then', camera: 5 };
  const { warnings } = acceptRecords([accident({ evidence: [file] })]);
  expect(warnings.map(({ field, severity }) => [field, severity])).toEqual([
    ['evidence.takenAt', 'dropped'],
    ['evidence.camera', 'corrected'],
  ]);
});
