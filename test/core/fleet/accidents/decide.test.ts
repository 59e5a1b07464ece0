import fc from 'fast-check';
import {
  type Accident,
  type AccidentRecord,
  decide,
  type Fleet,
  type KnownVehicle,
} from '#src/core/fleet/accidents/decide.ts';
import { accidents } from '#src/core/fleet/lists/accidents.ts';

const now = Date.UTC(2026, 10, 22);
const vin = '1FUJGLDR5CLBP8834';
const at = (hour: number) => Date.UTC(2026, 10, 21, hour);
const source = { accountId: 'account', connectionId: 'own', provider: 'motive', tSP: 'Motive' };

/** A record of one accident by its level, an `x` if it is a false alarm, and the hour of its version: `2x@11`. */
function recordOf(text: string, changes: Partial<AccidentRecord> = {}): AccidentRecord {
  const [, level, isDismissed, hour] = /^(\d)(x?)(?:@(\d+))?$/.exec(text) ?? [];
  const sent = {
    kind: 'accident',
    sourceId: 'crash-1',
    vin,
    eventTime: at(0),
    location: { latitude: 1, longitude: 2 },
    notificationLevel: Number(level),
    dismissed: isDismissed === 'x',
  };
  const row = accidents.toRow(sent, { ...source, requestId: '', now });
  return { ...row, ...(hour && { sourceUpdatedAt: at(Number(hour)) }), ...changes };
}

const nobodys: Fleet = { vehicles: [], drivers: [], erasedDrivers: [] };

/** Decides about records in order. Returns the last state, which levels were told, and after which it was dismissed. */
function after(records: AccidentRecord[], fleet = nobodys) {
  let accident: Accident | undefined;
  const told: string[] = [];
  let states = '';
  for (const [i, one] of records.entries()) {
    const decision = decide(accident, one, fleet, now + i);
    accident = decision.after;
    const { dismissed } = accident;
    told.push(decision.toNotify ? `${decision.toNotify}${dismissed ? '?' : ''}` : '-');
    states += dismissed ? 'x' : '.';
  }
  return { accident: accident as Accident, told: told.join(' '), states };
}

it.each<[rule: string, records: string, told: string, states?: string]>([
  ['a newer version of a level is not told', '1@10 1@11', '1 -'],
  ['an older version of a new level is told', '2@11 1@10', '2 1'],
  ['a false alarm is told as level 2 to those who know of level 1', '1 1x', '1 2?'],
  ['a false alarm of any level is', '1 3x', '1 2?'],
  ['a false alarm is told once', '1 1x 1x 2x', '1 2? - -'],
  ['a false alarm is not told to those who know that it was verified', '1 2 2x', '1 2 -'],
  ['a false alarm is not told to those who know of level 2 alone', '2 2x 3x', '2 - -'],
  ['a false alarm that comes first is not told', '1x 1', '- -', 'xx'],
  ['a repeat does not reopen it', '1 1x 1', '1 2? -', '.xx'],
  ['a later level reopens it, and level 2 was told', '1 1x 2 3', '1 2? - 3', '.x..'],
  ['a newer version reopens it', '1x@11 1@12', '- 1', 'x.'],
  ['an older version does not reopen it', '1x@11 1@10', '- -', 'xx'],
  ['an older version cannot make it a false alarm', '1@12 1x@11 3x@11 2@13', '1 - - 2', '....'],
])('%s: %s', (_, records, told, states = expect.any(String)) => {
  const all = records.split(' ').map((text) => recordOf(text));
  expect(after(all)).toMatchObject({ told, states });
});

type Said = [text: string, changes?: Partial<AccidentRecord>];

it.each<[rule: string, Said[], expected: Partial<Accident>]>([
  ['the VIN is of the newest version', [['1@12'], ['2@11', { vin: 'OLDER1' }]], { vin }],
  ['the VIN is of the highest level without versions', [['2'], ['1', { vin: 'LOWER1' }]], { vin }],
  [
    'a repeat of a lower level is no newer version, though it has one',
    [['3'], ['1@11', { vin: 'LOWER1' }], ['1@11', { vin: 'LOWER1' }]],
    { vin },
  ],
  ['so it is within a version', [['2@11'], ['1@11', { vin: 'LOWER1' }]], { vin }],
  ['the VIN is of the last record otherwise', [['1'], ['1', { vin: 'LAST1' }]], { vin: 'LAST1' }],
  ['a record without VIN keeps it', [['1'], ['2', { vin: '' }]], { vin }],
  ['an older version with a VIN fills it in', [['1@12', { vin: '' }], ['1@11']], { vin }],
  [
    'time and place are of the newest version',
    [['1@12'], ['2@11', { eventTime: 1, location: { latitude: 3, longitude: 4 } }]],
    { eventTime: at(0), location: { latitude: 1, longitude: 2 } },
  ],
  ['the time can be corrected', [['1'], ['1', { eventTime: 1 }]], { eventTime: 1 }],
  ['the report is ready at level 3', [['3'], ['1']], { reportReady: true, notificationLevel: 3 }],
  ['it is accurate from level 2', [['1'], ['2'], ['1']], { isAccurate: true }],
  ['a false alarm is never accurate', [['2'], ['2x']], { isAccurate: false, dismissed: true }],
  [
    'a reopened one is as accurate as its level',
    [['2@10'], ['2x@11'], ['1@12']],
    { isAccurate: true },
  ],
  [
    'an older version of its level says nothing',
    [['2@12'], ['2@11', { isAccurate: false }]],
    { isAccurate: true },
  ],
  ['its version is the newest', [['1@12'], ['2@11'], ['3']], { sourceUpdatedAt: at(12) }],
  [
    'levels are in order, each with when it first came',
    [['2'], ['1'], ['2']],
    {
      levels: [
        { notificationLevel: 1, receivedAt: '2026-11-22T00:00:00.001Z' },
        { notificationLevel: 2, receivedAt: '2026-11-22T00:00:00.000Z' },
      ],
      createdAt: now,
    },
  ],
  [
    'what a claim needs is kept until a newer version says something else',
    [
      ['1@11', { severity: 'low', maxSpeedKph: 80, reportUrl: 'a' }],
      ['1@12', { severity: 'high' }],
      ['1@10', { accelerationG: 2 }],
    ],
    { severity: 'high', maxSpeedKph: 80, accelerationG: 2, reportUrl: 'a' },
  ],
  [
    'a driver keeps the name if it becomes unknown',
    [['1', { driverId: 'ann' }], ['2']],
    { driverId: 'ann', driverName: 'Ann' },
  ],
  [
    'an erased driver is in none',
    [['1', { driverId: 'gone' }]],
    { driverId: null, driverName: null },
  ],
])('%s', (_, said, expected) => {
  const fleet = { ...nobodys, drivers: [{ id: 'ann', name: 'Ann' }], erasedDrivers: ['gone'] };
  const records = said.map(([text, changes]) => recordOf(text, changes));
  expect(after(records, fleet).accident).toMatchObject(expected);
});

/** A vehicle as `name@connection`, with `.x` behind if it is inactive, `?` with another VIN; newer than those before it. */
function vehicleOf(text: string, createdAt: number): KnownVehicle {
  const [, id = '', of = 'own', mark] = /^(\w+)(?:@(\w+))?(\.x|\?)?$/.exec(text) ?? [];
  return {
    id,
    connectionId: of,
    name: `The ${id}`,
    licensePlate: null,
    groups: '[]',
    createdAt,
    vin: mark === '?' ? 'OTHER1' : vin,
    status: mark === '.x' ? 'inactive' : 'active',
  };
}
const fleetOf = (text: string): Fleet => ({
  ...nobodys,
  vehicles: text.split(' ').filter(Boolean).map(vehicleOf),
});

it.each<[fleet: string, says: Partial<AccidentRecord>, expected: string | null]>([
  ['', {}, null],
  ['van', {}, 'van'],
  ['van sold.x', {}, 'van'],
  ['van@other sold.x', {}, 'van'],
  ['old@other van@third', {}, 'van'],
  ['old.x van.x', {}, 'van'],
  ['van twin', {}, null],
  ['van@other twin@other sold.x', {}, null],
  ['van b@other twin@other', {}, 'van'],
  ['van? twin', { vehicleId: 'van' }, 'van'],
  ['van twin', { vehicleId: 'van' }, 'van'],
  ['van', { vehicleId: 'unheard-of' }, 'van'],
  ['van', { vehicleId: 'van', vin: '' }, 'van'],
])('with %j, the vehicle of a record that says %j is %j', (fleet, says, vehicleId) => {
  const { after, isUnclear } = decide(undefined, recordOf('1', says), fleetOf(fleet), now);
  const vehicleName = vehicleId && `The ${vehicleId}`;
  expect(after).toMatchObject({ vehicleId, vehicleName, vin });
  expect(isUnclear).toBe(vehicleId === null && fleet.includes('twin'));
});

describe('its vehicle, once decided', () => {
  const [van, truck] = [fleetOf('van'), fleetOf('truck')];
  const first = decide(undefined, recordOf('1'), van, now).after;
  const vehicleAfter = (before: Accident, text: string, fleet: Fleet, says = {}) =>
    decide(before, recordOf(text, says), fleet, now).after.vehicleId;

  it.each<[string, string, Fleet, object, string | null]>([
    ['stays when a level is repeated', '1', truck, {}, 'van'],
    ['is decided again at a new level', '2', truck, {}, 'truck'],
    ['is decided again with another VIN', '1', nobodys, { vin: 'NOBODYS1' }, null],
    ['is decided again when another is named', '1', truck, { vehicleId: 'truck' }, 'truck'],
  ])('%s', (_, text, fleet, says, expected) => {
    expect(vehicleAfter(first, text, fleet, says)).toBe(expected);
  });

  it('is filled in by a repeat if none was known', () => {
    const unknown = decide(undefined, recordOf('1'), nobodys, now).after;
    expect(vehicleAfter(unknown, '1', van)).toBe('van');
  });

  it('does not change it by a new name alone', () => {
    const renamed = { ...van, vehicles: van.vehicles.map((one) => ({ ...one, name: 'Renamed' })) };
    const filled = decide(undefined, recordOf('1', { vehicleId: 'van' }), renamed, now).after;
    expect(decide(filled, recordOf('1', { vehicleId: 'van' }), van, now).after).toBe(filled);
  });
});

const anyRecord = fc
  .record({
    level: fc.constantFrom(1, 2, 3),
    dismissed: fc.boolean(),
    hour: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    vehicleId: fc.constantFrom(null, 'van', 'truck'),
    vin: fc.constantFrom('', vin, 'OTHER1'),
  })
  .map(({ level, dismissed, hour, ...says }) =>
    recordOf(`${level}${dismissed ? 'x' : ''}${hour ? `@${hour}` : ''}`, says),
  );

it('whatever comes, each level is told once, is received once, and a repeat of the last record changes nothing', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 8 }), (records) => {
      const fleet = fleetOf('van truck?');
      const { accident, told } = after(records, fleet);
      const levels = [...told.matchAll(/\d/g)].map(Number);
      expect(new Set(levels).size).toBe(levels.length);
      expect(accident.notified).toBe(levels.reduce((sum, level) => sum | (1 << (level - 1)), 0));
      const received = accident.levels.map(({ notificationLevel }) => notificationLevel);
      expect(received).toEqual([...new Set(records.map((one) => one.notificationLevel))].sort());
      const [last = recordOf('1')] = records.slice(-1);
      expect(decide(accident, last, fleet, now + 9).after).toBe(accident);
    }),
  );
});

it('a repeat of levels changes nothing, of one version or without any', () => {
  const levelsOfOne = fc.tuple(
    fc.uniqueArray(anyRecord, { minLength: 1, selector: (one) => one.notificationLevel }),
    fc.constantFrom(at(1), undefined),
  );
  fc.assert(
    fc.property(levelsOfOne, ([records, sourceUpdatedAt]) => {
      const fleet = fleetOf('van truck?');
      const all = records.map((one) => ({ ...one, dismissed: false, sourceUpdatedAt }));
      const { accident } = after(all, fleet);
      for (const one of all) expect(decide(accident, one, fleet, now + 9).after).toBe(accident);
    }),
  );
});
