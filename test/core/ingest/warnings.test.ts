import { acceptRecords } from '#src/core/ingest/accept.ts';
import type { IngestOutcome } from '#src/core/ingest/schema.ts';
import { farMs, maxWarnings, warningsOf } from '#src/core/ingest/warnings.ts';
import {
  accident,
  ago,
  dayMs,
  driver,
  recently,
  safetyEvent,
  times,
  trip,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const warned = async (...records: unknown[]) => {
  const { status, data } = await us.send(...records);
  expect(status).toBe(200);
  return data;
};

it('a call is warned of unknown words and fields, and of VINs that cannot be one', async () => {
  const { accepted, warnings } = await warned(
    vehicle(),
    safetyEvent({ incidentTypes: ['hard_break', ' hard_break'], speed: 5 }),
    safetyEvent({ sourceId: 'e2', incidentTypes: ['hard_brake', 'hard_break'] }),
    accident({ vin: 'TRAILER-7' }),
  );
  expect(accepted).toBe(4);
  expect(
    warnings?.map(({ index, records, field, message }) => [index, records, field, message]),
  ).toEqual([
    [3, 1, 'vin', expect.stringContaining('17 letters and digits')],
    [
      ...[1, 1, 'speed'],
      'is not a field of safetyEvent records; it was ignored. Did you mean maxSpeedKph?',
    ],
    [1, 2, 'incidentTypes', 'has the unknown label hard_break, which becomes Other'],
  ]);
});

const location = { latitude: 40.2, longitude: -77.1 };
const evidence = [1, 2].map((takenOn) => ({ kind: 'photo', url: 'https://a.example', takenOn }));
it.each<[string, object, field: string, meant?: string]>([
  ['a name in other letters', vehicle({ licencePlate: 'AB 1' }), 'licencePlate', 'licensePlate'],
  ['a name like no other', vehicle({ zzz: 1 }), 'zzz'],
  ['a name with a character that turns text', vehicle({ 'a\u202eb': 1 }), '(not printable)'],
  ['half a character', vehicle({ '\ud800': 1, '\udc00': 1 }), '(not printable)'],
  ['what every object inherits', vehicle({ constructor: 1 }), 'constructor'],
  [
    'a name in a location',
    accident({ location: { ...location, speed: 5, adress: 'A street' } }),
    'location.speed',
  ],
  [
    'a name in the location of a vehicle',
    vehicle({ lastLocation: { ...location, timestamp: recently, speed: 5 } }),
    'lastLocation.speed',
    'speedKph',
  ],
  ['a name in each file', accident({ evidence }), 'evidence.takenOn', 'takenAt'],
])('an unknown field is warned of once in a record: %s', (_, record, field, meant) => {
  const { warnings } = warningsOf({ provider: 'samsara' }, [record], [], []);
  const { kind } = record as { kind: string };
  const ignored = `is not a field of ${kind} records; it was ignored`;
  const message = meant ? `${ignored}. Did you mean ${meant}?` : ignored;
  expect(warnings).toContainEqual({ field, message, records: 1, index: 0 });
});

it(`a call gets at most ${maxWarnings} different ones, none of them long`, async () => {
  const unknown = Object.fromEntries(times(30, (i) => [`${i}${'x'.repeat(5000)}`, i]));
  const { warnings = [], moreWarnings } = await warned(vehicle(unknown));
  expect(warnings).toHaveLength(maxWarnings);
  expect(moreWarnings).toBe(30 - maxWarnings);
  expect(Math.max(...warnings.map(({ field }) => field.length))).toBeLessThanOrEqual(101);
});

it("the worst come first, and of these an accident's", async () => {
  const unknown = Object.fromEntries(times(30, (i) => [`unknown${i}`, i]));
  const { warnings = [], moreWarnings } = await warned(
    { ...vehicle({ sourceId: 'one', year: '2024', ...unknown }), kind: 'Vehicle' },
    vehicle({ sourceId: 'twin', name: 'One' }),
    vehicle({ sourceId: 'twin', name: 'Other' }),
    driver({ email: 'none' }),
    accident({ severity: 'none', eventTime: '1999-12-31T23:59:59Z' }),
  );
  const fields = warnings.map(({ field }) => field);
  const worst = ['sourceId', 'eventTime', 'vin', 'severity', 'email', 'kind', 'year', 'unknown0'];
  expect(fields.slice(0, worst.length)).toEqual(worst);
  expect(moreWarnings).toBe(worst.length - 1 + 30 - maxWarnings);
});

describe('records of a call with one id', () => {
  const later = { sourceUpdatedAt: '2026-11-20T20:00:01Z' };
  const sooner = { sourceUpdatedAt: '2026-11-20T20:00:00Z' };
  it.each<[string, object, object]>([
    ['drivers', driver(), driver({ name: 'Ben' })],
    ['vehicles', vehicle({ vin: undefined }), vehicle({ vin: undefined, name: 'Truck 2' })],
    ['vehicles by version', vehicle(sooner), vehicle({ vin: '1FUJGLDR5CLBP8835', ...later })],
    ['trips', trip(), trip({ startedAt: '2026-11-20T21:00:00Z' })],
    ['safety events', safetyEvent(), safetyEvent({ vehicle: 'truck-2' })],
    ['accidents', accident(), accident({ vin: '1FUJGLDR5CLBP8835' })],
    ['levels', accident(), accident({ vin: '1FUJGLDR5CLBP8835', notificationLevel: 2 })],
    ['ids that look the same', driver(), driver({ sourceId: 'driver\u200b-1', name: 'Ben' })],
  ])('that are different things are warned of: %s', (_, one, other) => {
    const { warnings } = acceptRecords([driver({ sourceId: 'somebody' }), one, other]);
    const message = expect.stringContaining('is also that of a different');
    expect(warnings).toEqual([
      { index: 2, otherIndex: 1, field: 'sourceId', message, severity: 'lost' },
    ]);
  });

  it.each<[string, object, object]>([
    ['a vehicle that was renamed', vehicle(sooner), vehicle({ name: 'Truck 1b', ...later })],
    ['a vehicle whose VIN came later', vehicle({ vin: undefined }), vehicle()],
    [
      'an event that was corrected',
      safetyEvent(sooner),
      safetyEvent({ startedAt: recently, ...later }),
    ],
    ['levels', accident(), accident({ notificationLevel: 2, eventTime: '2026-11-20T20:00:03Z' })],
    ['a trip and its vehicle', vehicle({ sourceId: 'trip-1' }), trip()],
  ])('that are one thing are not: %s', (_, one, other) => {
    expect(acceptRecords([one, other]).warnings).toEqual([]);
  });
});

const early = 'is before the year 2000: check the clock and the unit';
const far = 'is years before the newest time of the call: check the clock of the device';
const old = { startedAt: ago(5 * farMs) };

it.each<[string, object[], field?: string, message?: string, notify?: boolean]>([
  ['none', [safetyEvent(), trip(), accident()]],
  [
    'seconds for milliseconds',
    [accident({ eventTime: '1970-01-21T10:35:00Z' })],
    'eventTime',
    early,
  ],
  ['a clock never set', [safetyEvent({ startedAt: '1999-12-31T23:59:59Z' })], 'startedAt', early],
  ['a detail', [accident({ detectedAt: '1970-01-01T00:00:00Z' })], 'detectedAt', early],
  ['a clock that rolled over', [accident({ eventTime: ago(7168 * dayMs) })], 'eventTime', far],
  ['a clock years behind', [trip({ startedAt: ago(farMs + 60_000) })], 'startedAt', far],
  ['an accident of last year', [accident({ eventTime: ago(farMs / 2) })]],
  ['history alone', [trip(old), safetyEvent(old)], '', '', false],
  ['history far from other records', [trip(old), safetyEvent()], 'startedAt', far, false],
])(
  'a call is warned of times that a wrong clock or unit gives: %s',
  async (_, records, field, message, notify = true) => {
    const { connector } = await world();
    const body = { records: [vehicle(), ...records], notify };
    const { data } = await connector.post<IngestOutcome>('/ingest', body);
    expect(data.rejected).toEqual([]);
    if (field) expect(data.warnings).toMatchObject([{ field, message }]);
    else expect(data).not.toHaveProperty('warnings');
  },
);
