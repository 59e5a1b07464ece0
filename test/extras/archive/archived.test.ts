import { archiveKinds } from '#src/core/fleet/lists/registry.ts';
import { newerOf } from '#src/extras/archive/archived.ts';

it('an archived event keeps what its vehicle was called, unless it was of another one', () => {
  const kind = archiveKinds.find(
    ({ name }) => name === 'safety-events',
  ) as (typeof archiveKinds)[0];
  const archived = { id: 'e', createdAt: 1, vehicleId: 'a', vehicleName: 'Truck 1' };
  const late = { ...archived, createdAt: 2, vehicleName: 'Truck 2' };
  expect(newerOf(kind, archived, late)).toBe(archived);
  const other = { ...late, vehicleId: 'b' };
  expect(newerOf(kind, archived, other)).toEqual({ ...other, createdAt: 1 });
});
