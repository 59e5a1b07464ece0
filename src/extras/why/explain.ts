import { operatorIn } from '../../core/accounts/accounts.ts';
import { findReferences, selectByIds } from '../../core/fleet/find.ts';
import { accidents } from '../../core/fleet/lists/accidents.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { asCaller } from '../../core/platform/db/guard.ts';
import { whoWasNotified } from '../alerts/notified.ts';
import { findIncidents, type Incident, type Sought } from '../delivery-log/find-incidents.ts';

/** What came in of an event, accident, vehicle or driver, who was notified of it, and why webhooks were not. */
export async function explain(env: Env, sought: Sought) {
  const found = await findIncidents(env, sought);
  return (await Promise.all(found.map((one) => explainOne(env, one)))).flat();
}

async function explainOne(env: Env, { accountId, account, eventId }: Incident) {
  const caller = operatorIn(accountId);
  const stored = await asCaller(env, caller, (db) => ({
    event: selectByIds(db, caller, safetyEvents.list, [eventId]),
    accident: selectByIds(db, caller, accidents.list, [eventId]),
  }));
  const [event] = stored.event.map(safetyEvents.list.present);
  const [accident] = stored.accident.map(accidents.list.present);
  const item = event ?? accident;
  if (!item) return [];
  const [notified, { connection }] = await Promise.all([
    whoWasNotified(env, caller, eventId),
    findReferences(env, caller, { connectionId: item.connectionId }),
  ]);
  const what = event?.translatedIncidentTypes ?? [accident?.dismissed ? 'False alarm' : 'Accident'];
  return [
    {
      kind: event ? ('event' as const) : ('accident' as const),
      ...{ eventId, accountId, account, what },
      eventRisk: event?.eventRisk ?? null,
      at: Date.parse(event?.startedAt ?? accident?.eventTime ?? ''),
      receivedAt: Date.parse(item.createdAt),
      vehicle: item.vehicleName,
      vin: (event ? event.vehicleVin : accident?.vin) || null,
      connectionId: item.connectionId,
      connection: connection?.name ?? item.tSP,
      deliveries: notified.deliveries,
      complete: notified.complete,
      unnotified: notified.unnotified.map(({ id, ...webhook }) => ({ webhookId: id, ...webhook })),
      alerted: notified.alerted,
    },
  ];
}
