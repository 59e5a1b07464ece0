import { beforeAll, expect, it } from 'vitest';
import { hourMs } from '../../../src/platform/durations.ts';
import { signIn, visitor } from '../../support/portal.ts';
import { accident, safetyEvent, vehicle } from '../../support/records.ts';
import { as, operator, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara'] });
let cookie: string;
beforeAll(async () => {
  cookie = (await signIn(us)).cookie;
});

const { textAt: text } = visitor(() => cookie);

it('the list says how each connection does and what has come in, the worst first', async () => {
  const [first, second] = us.connections;
  await operator.patch(`/operator/connections/${first?.id}`, { name: 'City vans' });
  await operator.patch(`/operator/connections/${second?.id}`, { name: 'Cold chain', healthStatus: 3 });
  const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hourMs).toISOString();
  await as(us.connection.ingestKey).send(
    vehicle(),
    ...[0.01, 2, 22, 30].map((hours, i) => safetyEvent({ sourceId: `e${i}`, startedAt: at(hours) })),
    accident({ eventTime: at(3) }),
  );
  const page = await text('/portal/connections');
  expect(page).toMatch(
    /Cold chain Samsara Unavailable No data arrives.*None yet 0 0 M City vans Motive Healthy/,
  );
  expect(page).toContain('2 data sources, 1 vehicle. One needs attention.');
  expect(page).toMatch(/City vans Motive Healthy (just now|\d+ seconds ago) 1 3/);
});

it('the page of a connection counts its records by kind, and tells when the latest came in', async () => {
  const page = await text(`/portal/connections/${us.connection.id}`);
  expect(page).toMatch(/Vehicles 1 (just now|\d+ seconds ago)/);
  expect(page).toMatch(/Drivers 0 None yet/);
  expect(page).toMatch(/Safety events 4 (just now|\d+ seconds ago) /);
  expect(page).toMatch(/Accidents 1 (just now|\d+ seconds ago) /);
});
