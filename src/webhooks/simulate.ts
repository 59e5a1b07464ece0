import { asCaller, type Caller } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { deliverTo } from '../deliveries/fan-out.ts';
import { priorityOf } from '../deliveries/policy.ts';
import { invalid } from '../errors.ts';
import { timestamp } from '../fields.ts';
import { insertNotifications, type NewNotification } from '../notifications/insert.ts';
import { ACCIDENT, accidentLevels, EVENT, EVENT_LEVEL } from '../notifications/types.ts';
import type { Webhook } from './service.ts';

const madeUpVin = 'TEST0000000000000';
const betweenLevelsMs = 3000;

/**
 * Sends a made-up event to this webhook alone, as a real delivery.
 *
 * @throws Refusal: invalid, when the webhook does not subscribe to events, or has no connection
 */
export async function sendTestEvent(
  env: Env,
  caller: Caller,
  requestId: string,
  webhook: Webhook,
): Promise<void> {
  const eventId = newId();
  const data = {
    eventId,
    issuedOn: timestamp(Date.now()),
    translatedIncidentTypes: ['Harsh Braking'],
    eventRisk: 3,
    vehicleId: newId(),
    vehicleName: 'TEST vehicle (made up)',
    vehicleVin: madeUpVin,
    vehicleGroups: ['TEST'],
    recipients: ['test@example.com'],
  };
  await send(env, caller, requestId, webhook, [{ eventId, level: EVENT_LEVEL, type: EVENT, data }]);
}

/**
 * Sends a made-up accident with its three levels, three seconds apart, to this webhook alone.
 *
 * @throws Refusal: invalid, when the webhook does not subscribe to accidents, or has no connection
 */
export async function sendTestAccident(
  env: Env,
  caller: Caller,
  requestId: string,
  webhook: Webhook,
): Promise<void> {
  const eventId = newId();
  const eventTime = timestamp(Date.now());
  const levels = accidentLevels.map(
    (level): NewNotification => ({
      eventId,
      level,
      type: ACCIDENT,
      data: {
        eventId,
        eventTime,
        vin: madeUpVin,
        connection: webhook.connectionIds[0] ?? '',
        tSP: 'TEST',
        location: { latitude: 39.7392, longitude: -104.9903 },
        notificationLevel: level,
        reportReady: level === 3,
        isAccurate: level >= 2,
      },
    }),
  );
  await send(env, caller, requestId, webhook, levels);
}

async function send(
  env: Env,
  caller: Caller,
  requestId: string,
  webhook: Webhook,
  notifications: NewNotification[],
): Promise<void> {
  const connectionId = webhook.connectionIds[0];
  if (!connectionId) throw invalid('This webhook has no connections, so nothing is sent to it');
  if (!notifications.every(({ type }) => webhook.notificationTypes.includes(type)))
    throw invalid('This webhook does not subscribe to that type of notification');
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, requestId, now };
  const deliveries = notifications.map(({ eventId, level, type }, place) => ({
    id: newId(),
    eventId,
    level,
    priority: priorityOf(type, 0),
    dueAt: now + place * betweenLevelsMs,
  }));
  await asCaller(env, caller, (db) => [
    insertNotifications(db, source, notifications),
    deliverTo(db, accountId, webhook.id, deliveries),
  ]);
  for (const { dueAt } of deliveries) {
    const wake = { accountId, webhookId: webhook.id, lane: 1 };
    await env.DELIVERIES.send(wake, { delaySeconds: (dueAt - now) / 1000 }).catch(() => {}); // the sweep wakes it
  }
}
