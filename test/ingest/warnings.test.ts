import { maxWarnings } from '../../src/ingest/warnings.ts';
import { accident, safetyEvent, vehicle } from '../support/records.ts';
import { worldBefore } from '../support/world.ts';

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
      field: 'speed',
      message: 'is not a field of a safetyEvent record; it was ignored',
      records: 1,
      index: 1,
    },
    {
      field: 'incidentTypes',
      message: 'has the unknown label hard_break, which becomes Other',
      records: 2,
      index: 1,
    },
    { field: 'vin', message: expect.stringContaining('17 letters and digits'), records: 1, index: 3 },
  ]);
});

it(`a call gets at most ${maxWarnings} different ones, none of them long`, async () => {
  const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}${'x'.repeat(5000)}`, i]));
  const { warnings = [] } = await warned(vehicle({ vin, ...unknown }));
  expect(warnings).toHaveLength(maxWarnings);
  expect(Math.max(...warnings.map(({ field }) => field.length))).toBeLessThanOrEqual(101);
});
