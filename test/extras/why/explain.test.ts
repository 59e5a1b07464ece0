import type { FoundItem } from '#src/extras/search/operations.ts';
import type { WhyIncident } from '#src/extras/why/operations.ts';
import { settled } from '#test/support/deliveries.ts';
import { accident, driver, safetyEvent, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';
import { invalid, operator } from '#test/support/world.ts';

const tale = story();
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const explain = async (query: object) => {
  const path = `/operator/why?${new URLSearchParams({ ...query })}`;
  return (await operator.get<WhyIncident[]>(path)).data;
};
const idOf = async (query: object) => {
  const parameters = new URLSearchParams({ accountId: tale.us.accountId, ...query });
  const { data } = await operator.get<FoundItem[]>(`/operator/fleet/find?${parameters}`);
  return String(data[0]?.id);
};

it('says of a vehicle and driver what came in, which webhook was notified, and why another was not', async () => {
  const hook = await tale.register();
  const risky = await tale.register({
    url: 'https://risky.example.com/',
    filters: { minEventRisk: 5 },
  });
  const startedAt = minutesAgo(10);
  await tale.send(
    driver(),
    vehicle(),
    safetyEvent({ startedAt, driver: 'driver-1', eventRisk: 3 }),
    safetyEvent({ startedAt: minutesAgo(90), sourceId: 'earlier' }),
    accident({ eventTime: minutesAgo(5), driver: 'driver-1' }),
  );
  await settled(hook.id, 3);
  const vehicleId = await idOf({ vehicle: 'Truck 1' });
  const range = { from: minutesAgo(30), to: minutesAgo(-1) };
  const found = await explain({ vehicleId, ...range });
  expect(found.map(({ kind, what, vehicle }) => [kind, what, vehicle])).toEqual([
    ['accident', ['Accident'], 'Truck 1'],
    ['event', ['Harsh Braking'], 'Truck 1'],
  ]);
  const [, event] = found;
  expect(event).toMatchObject({
    ...{ eventRisk: 3, at: startedAt, accountId: tale.us.accountId, complete: true },
    deliveries: [{ webhookId: hook.id, name: null, level: 0, status: 'delivered' }],
    unnotified: [{ webhookId: risky.id, why: 'its filters leave this out' }],
  });
  expect(event?.deliveries[0]?.last).toMatchObject({ result: 'success', status: 200 });
  expect(await explain({ driverId: await idOf({ driver: 'Ann' }), ...range })).toEqual(found);
  expect(await explain({ eventId: event?.eventId })).toEqual([event]);
  expect(await explain({ vehicleId, to: minutesAgo(30), limit: '1' })).toMatchObject([
    { at: expect.stringContaining('T'), kind: 'event' },
  ]);
  expect(await explain({ eventId: crypto.randomUUID() })).toEqual([]);
  const nothing = await operator.get('/operator/why');
  expect(nothing).toMatchObject(invalid('Give an eventId, a vehicleId or a driverId'));
});
