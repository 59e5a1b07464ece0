import { sql } from 'drizzle-orm';
import { openDatabase, statement, transaction } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { giveUpAfterMs } from '../deliveries/policy.ts';
import { invalid } from '../errors.ts';
import { timestamp } from '../http/envelope.ts';
import { ACCIDENT, EVENT } from '../webhooks/schema.ts';
import type { Webhook } from '../webhooks/service.ts';

/** Whose webhook is tried, and in which request. */
export type Trial = { accountId: string; requestId: string };

type Made = { level: number; type: 1 | 2; data: object; delaySeconds: number };

const madeUpVin = 'TEST0000000000000';

/**
 * Sends a made-up event to this webhook alone, as a real delivery.
 *
 * @throws Refusal: invalid, when the webhook asks for no events, or has no connection
 */
export async function sendTestEvent(env: Env, trial: Trial, webhook: Webhook): Promise<void> {
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
  await deliverTo(env, trial, webhook, eventId, [{ level: 0, type: EVENT, data, delaySeconds: 0 }]);
}

/**
 * Sends a made-up accident by its three levels, three seconds apart, to this webhook alone.
 *
 * @throws Refusal: invalid, when the webhook asks for no accidents, or has no connection
 */
export async function sendTestAccident(env: Env, trial: Trial, webhook: Webhook): Promise<void> {
  const eventId = newId();
  const eventTime = timestamp(Date.now());
  const levels = [1, 2, 3].map(
    (level): Made => ({
      level,
      type: ACCIDENT,
      delaySeconds: (level - 1) * 3,
      data: {
        eventId,
        eventTime,
        vin: madeUpVin,
        connection: webhook.connectionIds[0],
        tSP: 'TEST',
        location: { latitude: 39.7392, longitude: -104.9903 },
        notificationLevel: level,
        reportReady: level === 3,
        isAccurate: level >= 2,
      },
    }),
  );
  await deliverTo(env, trial, webhook, eventId, levels);
}

async function deliverTo(
  env: Env,
  { accountId, requestId }: Trial,
  webhook: Webhook,
  eventId: string,
  made: Made[],
) {
  const connectionId = webhook.connectionIds[0];
  if (!connectionId) throw invalid('This webhook has no connection, so that nothing is ever sent to it');
  if (!made.every(({ type }) => webhook.notificationTypes.includes(type)))
    throw invalid('This webhook does not ask for that type of notification');
  const db = openDatabase(env.DB);
  const now = Date.now();
  const rows = made.map((one) => ({ ...one, id: newId(), at: now + one.delaySeconds * 1000 }));
  const json = JSON.stringify(rows);
  await transaction(db, [
    statement(
      db,
      sql`
      insert into notifications (event_id, level, type, account_id, connection_id, data, created_at,
        request_id)
      select ${eventId}, value->>'level', value->>'type', ${accountId}, ${connectionId}, value->>'data', ${now},
        ${requestId}
      from json_each(${json})`,
    ),
    statement(
      db,
      sql`
      insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, give_up_at)
      select ${webhook.id}, value->>'id', ${accountId}, ${eventId}, value->>'level', 'pending', value->>'at',
        ${now + giveUpAfterMs}
      from json_each(${json})`,
    ),
  ]);
  for (const { id, delaySeconds } of rows)
    await env.DELIVERIES.send({ webhookId: webhook.id, id }, { delaySeconds }).catch(() => {}); // the sweep wakes it
}
