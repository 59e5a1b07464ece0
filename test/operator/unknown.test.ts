import { newId } from '#src/core/platform/db/ids.ts';
import { operations } from '#src/operator/api/operations.ts';
import { invalid, operator } from '#test/support/world.ts';

const reads = Object.values(operations).flatMap(({ call }) =>
  /^GET .*:id/.test(call) ? call : [],
);

// Behind a router, the operator's tool asks the cells in turn until one knows an id: an empty list would end that.
it.each(reads)(
  '%s refuses an id that nothing has, instead of returning an empty list',
  async (call) => {
    const path = `/operator${call.slice('GET '.length)}`.replace(':id', newId());
    const { status, message } = await operator.get(path);
    expect([status, message]).toEqual([400, expect.stringMatching(/^Unknown /)]);
  },
);

it.each([
  ['/operator/accounts?limit=1&limit=2', 'limit'],
  [`/operator/deliveries?webhookId=${newId()}&status=failed&status=pending`, 'status'],
])('a parameter that is given twice is refused: %s', async (path, field) => {
  expect(await operator.get(path)).toMatchObject(
    invalid(`${field} must be given only once`, field),
  );
});
