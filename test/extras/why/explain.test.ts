import type { WhyIncident } from '#src/extras/why/operations.ts';
import {
  accident,
  ago,
  driver,
  invalid,
  operator,
  recordId,
  safetyEvent,
  settled,
  story,
  vehicle,
} from '#test/support.ts';

const { us, send, register } = story();
const minutesAgo = (minutes: number) => ago(minutes * 60_000);
const explain = async (query: object) => {
  const path = `/operator/why?${new URLSearchParams({ ...query })}`;
  return (await operator.get<WhyIncident[]>(path)).data;
};
it('says of a vehicle and driver what came in, which webhook was notified, and why another was not', async () => {
  const hook = await register();
  const risky = await register({ url: 'https://risky.example.com/', filters: { minEventRisk: 5 } });
  const startedAt = minutesAgo(10);
  await send(
    driver(),
    vehicle(),
    safetyEvent({ startedAt, driver: 'driver-1', eventRisk: 3 }),
    safetyEvent({ startedAt: minutesAgo(90), sourceId: 'earlier' }),
    accident({ eventTime: minutesAgo(5), driver: 'driver-1' }),
  );
  await settled(hook.id, 3);
  const [vehicleId, driverId] = [
    recordId(us.connection.id, 'vehicle', 'truck-1'),
    recordId(us.connection.id, 'driver', 'driver-1'),
  ];
  const range = { from: minutesAgo(30), to: minutesAgo(-1) };
  const found = await explain({ vehicleId, ...range });
  expect(found).toMatchObject([
    { kind: 'accident', what: ['Accident'], vehicle: 'Truck 1' },
    {
      kind: 'event',
      what: ['Harsh Braking'],
      vehicle: 'Truck 1',
      eventRisk: 3,
      at: startedAt,
      accountId: us.accountId,
      complete: true,
      deliveries: [
        {
          webhookId: hook.id,
          name: null,
          level: 0,
          status: 'delivered',
          last: { result: 'success', status: 200 },
        },
      ],
      unnotified: [{ webhookId: risky.id, why: 'its filters leave this out' }],
    },
  ]);
  const [, event] = found;
  expect(await explain({ driverId, ...range })).toEqual(found);
  expect(await explain({ eventId: event?.eventId })).toEqual([event]);
  expect(await explain({ vehicleId, to: minutesAgo(30), limit: '1' })).toMatchObject([
    { at: expect.stringContaining('T'), kind: 'event' },
  ]);
  expect(await explain({ eventId: crypto.randomUUID() })).toEqual([]);
  const nothing = await operator.get('/operator/why');
  expect(nothing).toMatchObject(invalid('Give an eventId, a vehicleId or a driverId'));
});
