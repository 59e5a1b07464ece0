import { operatorIn } from '../../core/accounts/accounts.ts';
import { type DeliveryOfEvent, deliveriesOf } from './find.ts';
import { findIncidents, type Incident, type Sought } from './find-incidents.ts';

/** A delivery with its account. Times are milliseconds since 1970. */
export type FoundDelivery = Incident & DeliveryOfEvent;

/** The deliveries of an event or accident, or of those of a VIN or vehicle, in all accounts, newest first. */
export async function findDeliveries(env: Env, sought: Sought): Promise<FoundDelivery[]> {
  const found = await Promise.all(
    (await findIncidents(env, sought)).map(async (one) => {
      const { deliveries } = await deliveriesOf(env, operatorIn(one.accountId), one.eventId);
      return deliveries.map((delivery) => ({ ...one, ...delivery }));
    }),
  );
  return found.flat().sort((a, b) => b.createdAt - a.createdAt);
}
