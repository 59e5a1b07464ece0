import { operatorIn } from '#src/core/accounts/accounts.ts';
import { asCaller } from '#src/core/platform/db/guard.ts';
import { selectGroups } from '#src/extras/filters/groups.ts';
import { addRows, metered, personBefore, register, vehicle, worldBefore } from '#test/support.ts';

const us = worldBefore(beforeEach);
const { textAt } = personBefore(beforeEach, us);

it('the form offers the groups of the account’s vehicles, each once, and those that are chosen', async () => {
  const form = () => textAt('/portal/webhooks/new');
  expect(await form()).not.toContain('Only vehicles in these groups');
  await us.send(
    vehicle({ groups: ['South', 'North'] }),
    vehicle({ sourceId: 'other', groups: ['North', 'East'] }),
  );
  expect(await form()).toContain('Only vehicles in these groups East North South');
  const { id } = await register(us, { filters: { vehicleGroups: ['Once there'] } });
  expect(await textAt(`/portal/webhooks/${id}/edit`)).toContain('East North South Once there');
});

it('groups to choose from are looked for among 2,000 vehicles, and are 100 at most', async () => {
  const mine = { account_id: us.accountId, connection_id: us.connection.id };
  await addRows('vehicles', 2500, (i) => ({
    ...mine,
    created_at: i,
    updated_at: i,
    name: 'Truck',
    status: 'active',
    groups: JSON.stringify([`Group ${i % 150}`]),
  }));
  const { env: bindings, cost } = metered();
  const caller = operatorIn(us.accountId);
  const groups = await asCaller(bindings, caller, (db) => selectGroups(db, caller));
  expect(groups).toHaveLength(100);
  expect(cost).toMatchObject({ trips: 1, written: 0 });
  expect(cost.read).toBeLessThanOrEqual(3 * 2000);
});
