import type { FoundDelivery } from '#src/extras/delivery-log/operations.ts';
import { settled } from '#test/support/deliveries.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';
import { invalid, operator } from '#test/support/world.ts';

const tale = story();
const find = async (query: string) =>
  (await operator.get<FoundDelivery[]>(`/operator/deliveries/find?${query}`)).data;

it('finds deliveries of all accounts by a VIN or an event', async () => {
  const hook = await tale.register();
  const vin = crypto.randomUUID().slice(0, 17);
  const startedAt = new Date().toISOString();
  await tale.us.send(
    vehicle({ vin }),
    safetyEvent({ startedAt }),
    safetyEvent({
      startedAt: new Date(Date.now() - 40 * 86_400_000).toISOString(),
      sourceId: 'old',
    }),
    accident({ vin, eventTime: startedAt }),
  );
  await settled(hook.id, 2);
  const found = await find(`vin=${vin}`);
  expect(found.map(({ level }) => level).sort()).toEqual([0, 1]);
  expect(found[0]).toMatchObject({
    webhookId: hook.id,
    accountId: tale.us.accountId,
    status: 'delivered',
  });
  expect(await find(`eventId=${found[0]?.eventId}`)).toEqual([found[0]]);
  expect(await find(`eventId=${crypto.randomUUID()}`)).toEqual([]);
  const nothing = await operator.get('/operator/deliveries/find');
  expect(nothing).toMatchObject(invalid('Give an eventId, a vin or a vehicleId'));
});
