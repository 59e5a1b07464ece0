import { acceptRecords } from '#src/core/ingest/accept.ts';
import { maxWarnings } from '#src/core/ingest/warnings.ts';
import { accident, driver, recently, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const vin = '1FUJGLDR5CLBP8834';
const warned = async (...records: unknown[]) => {
  const { status, data } = await us.send(...records);
  expect(status).toBe(200);
  return data;
};

it('a call is warned of unknown words and fields, and of VINs that cannot be one', async () => {
  const { accepted, warnings } = await warned(
    vehicle({ vin }),
    safetyEvent({ incidentTypes: ['hard_break', ' hard_break'], speed: 5 }),
    safetyEvent({ sourceId: 'e2', incidentTypes: ['hard_brake', 'hard_break'] }),
    accident({ vin: 'TRAILER-7' }),
  );
  expect(accepted).toBe(4);
  expect(warnings).toEqual([
    {
      field: 'vin',
      message: expect.stringContaining('17 letters and digits'),
      records: 1,
      index: 3,
    },
    {
      field: 'speed',
      message: 'is not a field of safetyEvent records; it was ignored',
      records: 1,
      index: 1,
    },
    {
      field: 'incidentTypes',
      message: 'has the unknown label hard_break, which becomes Other',
      records: 2,
      index: 1,
    },
  ]);
});

it(`a call gets at most ${maxWarnings} different ones, none of them long`, async () => {
  const unknown = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`${i}${'x'.repeat(5000)}`, i]),
  );
  const { warnings = [], moreWarnings } = await warned(vehicle({ vin, ...unknown }));
  expect(warnings).toHaveLength(maxWarnings);
  expect(moreWarnings).toBe(30 - maxWarnings);
  expect(Math.max(...warnings.map(({ field }) => field.length))).toBeLessThanOrEqual(101);
});

it("the worst come first, and of these an accident's", async () => {
  const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`unknown${i}`, i]));
  const { warnings = [], moreWarnings } = await warned(
    { ...vehicle({ sourceId: 'one', vin, year: '2024', ...unknown }), kind: 'Vehicle' },
    vehicle({ sourceId: 'twin', name: 'One', vin }),
    vehicle({ sourceId: 'twin', name: 'Other', vin }),
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
    ['the same', vehicle(), vehicle()],
    ['a vehicle that was renamed', vehicle(sooner), vehicle({ name: 'Truck 1b', ...later })],
    ['a vehicle whose VIN came later', vehicle({ vin: undefined }), vehicle()],
    ['a trip that goes on', trip(), trip({ distanceKm: 5 })],
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
