import { hourMs } from '#src/core/platform/durations.ts';
import { signIn } from '#test/support/portal.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { operator, world } from '#test/support/world.ts';

it('connections are by name, and their numbers as people count', async () => {
  const us = await world({ providers: ['motive', 'samsara', 'acme'] });
  const names = ['Depot 10', 'depot 2', 'Depot 1'];
  for (const [i, name] of names.entries())
    await operator.patch(`/operator/connections/${us.connections[i]?.id}`, { name });
  const { page } = await signIn(us);
  const ordered = ['Depot 1', 'depot 2', 'Depot 10'];
  expect((await page('/portal/connections')).textAt('a.cover')).toEqual(ordered);
  expect((await page('/portal/events')).textAt('select[name=connection] option')).toEqual([
    'All',
    ...ordered,
  ]);
});

it('the list has the worst connections first, and each page counts what came in', async () => {
  const us = await world({ providers: ['motive', 'samsara', 'acme'] });
  const { textAt } = await signIn(us);
  const [first, second, third] = us.connections;
  await operator.patch(`/operator/connections/${first?.id}`, { name: 'City vans' });
  await operator.patch(`/operator/connections/${second?.id}`, {
    name: 'Cold chain',
    healthStatus: 3,
  });
  const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hourMs).toISOString();
  await us.send(
    vehicle(),
    ...[0.01, 2, 22, 30].map((hours, i) =>
      safetyEvent({ sourceId: `e${i}`, startedAt: at(hours) }),
    ),
    accident({ eventTime: at(3) }),
  );
  const list = await textAt('/portal/connections');
  expect(list).toMatch(
    /Cold chain Samsara Unavailable No data arrives.*None yet 0 0 M City vans Motive Healthy (just now|\d+ seconds ago) 1 3/,
  );
  expect(await textAt(`/portal/connections/${second?.id}`)).toContain(
    'No data arrives. A connector sends its data: ask whoever runs that.',
  );
  expect(list).toContain('A Acme Waiting for first data None yet');
  expect(list).toContain('3 data sources, 1 vehicle. One needs attention.');
  const acme = await textAt(`/portal/connections/${third?.id}`);
  expect(acme).toMatch(/Acme Waiting for first data.*Provider acme .*Name in deliveries Acme/);
  expect(await textAt(`/portal/connections/${us.connection.id}`)).toMatch(
    /Vehicles 1 (just now|\d+ seconds ago).*Drivers 0 None yet.*Safety events 4 (just now|\d+ seconds ago).*Accidents 1 (just now|\d+ seconds ago) /,
  );
});
