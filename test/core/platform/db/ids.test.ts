import { createdAtOf, newId } from '#src/core/platform/db/ids.ts';
import { times } from '#test/support/records.ts';

it('ids of a millisecond sort as they were made', () => {
  const ids = times(1000, () => newId(5));
  expect([...new Set(ids)].sort()).toEqual(ids);
});

it('an id has the time that it is made at, whatever later time an id before it had', () => {
  const now = Date.now();
  newId(now + 1e9);
  expect(createdAtOf(newId(now))).toBe(now);
});
