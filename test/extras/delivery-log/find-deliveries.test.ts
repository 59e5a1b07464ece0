import type { FoundDelivery } from '#src/extras/delivery-log/operations.ts';
import {
  accident,
  invalid,
  operator,
  recently,
  safetyEvent,
  settled,
  story,
  vehicle,
} from '#test/support.ts';

const { us, register } = story();
const find = async (query: string) =>
  (await operator.get<FoundDelivery[]>(`/operator/deliveries/find?${query}`)).data;

it('finds deliveries of all accounts by a VIN or an event', async () => {
  const hook = await register();
  const vin = crypto.randomUUID().slice(0, 17);
  await us.send(
    vehicle({ vin }),
    safetyEvent(),
    safetyEvent({ sourceId: 'old', startedAt: '2026-01-01T00:00:00Z' }),
    accident({ vin, eventTime: recently }),
  );
  await settled(hook.id, 2);
  const found = await find(`vin=${vin}`);
  expect(found.map(({ level }) => level).sort()).toEqual([0, 1]);
  const [first] = found;
  const delivered = { webhookId: hook.id, accountId: us.accountId, status: 'delivered' };
  expect(first).toMatchObject(delivered);
  expect(await find(`eventId=${first?.eventId}`)).toEqual([first]);
  // Some databases write ids in upper case.
  expect(await find(`eventId=${first?.eventId.toUpperCase()}`)).toEqual([first]);
  const shown = await operator.get(`/operator/deliveries/${first?.id.toUpperCase()}`);
  expect(shown.data).toMatchObject({ id: first?.id });
  expect(await find(`eventId=${crypto.randomUUID()}`)).toEqual([]);
  const nothing = await operator.get('/operator/deliveries/find');
  expect(nothing).toMatchObject(invalid('Give an eventId, a vin or a vehicleId'));
});
