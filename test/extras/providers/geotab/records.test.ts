import {
  collisionOf,
  distanceOf,
  driverRecord,
  vehicleRecord,
} from '#src/extras/providers/geotab/records.ts';
import { geotabDevice, geotabException, geotabUser } from '#test/extras/providers/fleets/geotab.ts';

it('a vehicle has the VIN that its engine reports, no more groups than fit, and is used no longer', () => {
  const groups = Array.from({ length: 40 }, (_, i) => ({ id: `c${i}` }));
  const device = geotabDevice(5, {
    vehicleIdentificationNumber: '?',
    vinInfoYear: undefined,
    groups,
    engineVehicleIdentificationNumber: '2FZHATDC5KAA00001',
    activeTo: '2026-01-01T00:00:00.000Z',
  });
  const record = vehicleRecord(device, new Map(groups.map(({ id }) => [id, `Depot ${id}`])));
  expect(record).toMatchObject({ vin: '2FZHATDC5KAA00001', year: null, status: 'inactive' });
  expect(record.groups).toHaveLength(20);
});

it('a driver is called as they log in, if they have no other name', () => {
  const user = { name: 'lee', firstName: '', lastName: '', activeTo: '2026-01-01T00:00:00.000Z' };
  expect(driverRecord(geotabUser(2, user))).toMatchObject({ name: 'lee', email: null, status: 0 });
});

const van = geotabDevice(1);
const dismissed = { state: 'ExceptionEventStateDismissedId' };
it.each([
  ['a false alarm', [{}, dismissed], false],
  ['real', [dismissed, {}], true],
])(
  'a collision that several rules find is %s by what Geotab analyses',
  (_, [legacy, analysed], isReal) => {
    const all = [
      geotabException(van, 'RuleAccidentId', 0, legacy),
      geotabException(van, 'RuleEnhancedMajorCollisionId', 2_000, analysed),
    ];
    expect(collisionOf(all[0], all, [])).toMatchObject({ isReal });
  },
);

it.each([
  [{ distance: 113.27, maximumSpeed: 104 }, 113.27],
  [{ distance: 113_276.75, maximumSpeed: 104 }, 113.27675],
  [{ distance: 160, maximumSpeed: 104 }, 160], // faster than was measured
  [{ distance: 113_276.75 }, 113.27675],
  [{ distance: 113.27, maximumSpeed: 'fast' }, 113.27],
  [{ distance: 'far' }, 'far'], // is dropped, with a warning
  [{}, null],
])('what Geotab writes means by the distance of %j in 1:27:41 %j km', (trip, km) => {
  expect(distanceOf(trip, 5_261)).toEqual(km);
});
