import { lt, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { normalisedUrl } from '../../core/platform/address.ts';
import { seal } from '../../core/platform/crypto.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { invalid, invalidField } from '../../core/platform/errors.ts';
import { timestamp } from '../../core/platform/fields.ts';
import { insertTests } from '../../core/webhooks/deliveries/fan-out.ts';
import { type Attempt, callTimeoutMs, priorityOf } from '../../core/webhooks/deliveries/policy.ts';
import { type DeliveryMessage, sendAfter } from '../../core/webhooks/deliveries/queue.ts';
import { prepareCalls } from '../../core/webhooks/deliveries/send/attempt.ts';
import type { CallSettings } from '../../core/webhooks/deliveries/send/claim.ts';
import { pick, plainFields } from '../../core/webhooks/fields.ts';
import {
  insertNotifications,
  type NewNotification,
} from '../../core/webhooks/notifications/insert.ts';
import {
  ACCIDENT,
  accidentLevels,
  EVENT,
  EVENT_LEVEL,
} from '../../core/webhooks/notifications/types.ts';
import { changeOptions, options } from '../../core/webhooks/options.ts';
import type { WebhookInput } from '../../core/webhooks/schema.ts';
import { findRow, mustBeOurs, type Webhook } from '../../core/webhooks/stored.ts';
import { type TestInput, type TestSent, webhookIsPaused } from './schema.ts';
import { testCalls } from './tables.ts';

export const madeUpVin = 'TEST0000000000000';
const betweenLevelsMs = 3000;

/** Made-up notifications: an event, a level of an accident, or all three levels. */
export function madeUp(
  { type, level }: TestInput,
  { connectionIds: [connection = newId()] }: Pick<Webhook, 'connectionIds'>,
): NewNotification[] {
  const eventId = newId();
  const now = timestamp(Date.now());
  if (type === EVENT) {
    const data = {
      eventId,
      issuedOn: now,
      translatedIncidentTypes: ['Harsh Braking'],
      eventRisk: 3,
      vehicleId: newId(),
      vehicleName: 'TEST vehicle (made up)',
      vehicleVin: madeUpVin,
      vehicleGroups: ['TEST'],
      recipients: ['test@example.com'],
    };
    return [{ eventId, level: EVENT_LEVEL, type, data }];
  }
  return accidentLevels
    .filter((one) => level === undefined || one === level)
    .map((notificationLevel) => ({
      eventId,
      level: notificationLevel,
      type,
      data: {
        eventId,
        eventTime: now,
        vin: madeUpVin,
        connection,
        tSP: 'TEST',
        location: { latitude: 39.7392, longitude: -104.9903 },
        notificationLevel,
        reportReady: notificationLevel === 3,
        isAccurate: notificationLevel >= 2,
      },
    }));
}

/**
 * Sends made-up notifications to this webhook alone, three seconds apart.
 * @throws Refusal: invalid, when it does not subscribe to their type, has no connection, or is paused
 */
export async function sendTest(
  env: Env,
  caller: Caller,
  requestId: string,
  webhook: Webhook,
  notifications: NewNotification[],
  start: (messages: DeliveryMessage[]) => void,
): Promise<TestSent> {
  const connectionId = webhook.connectionIds[0];
  if (!connectionId) throw invalid('This webhook has no connections, so nothing is sent to it');
  if (!notifications.every(({ type }) => webhook.notificationTypes.includes(type)))
    throw invalid('This webhook does not subscribe to that type of notification');
  if (webhook.pausedAt !== undefined) throw invalid(webhookIsPaused);
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, requestId, now };
  const tests = notifications.map(({ eventId, level, type }, place) => ({
    id: newId(now), // as their notifications
    accountId,
    webhookId: webhook.id,
    eventId,
    level,
    status: 'pending' as const,
    priority: priorityOf(type, 0),
    nextAttemptAt: now + place * betweenLevelsMs,
    isTest: true,
  }));
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, webhook.id),
    insertNotifications(db, source, notifications),
    insertTests(db, tests),
    audit(db, caller, 'changed', 'webhooks', webhook.id, ['tested']),
  ]);
  const wake = { accountId, webhookId: webhook.id, worker: 1 };
  start([wake]);
  for (const { nextAttemptAt } of tests.slice(1))
    await sendAfter(env, wake, (nextAttemptAt - now) / 1000);
  return { eventId: notifications[0]?.eventId ?? '', deliveryIds: tests.map(({ id }) => id) };
}

/** How many tests of unsaved webhooks a host gets in an hour: from an account, or all. */
export const maxTestsOfHost = 10;
export const maxTestsOfReceiver = 60;

/**
 * Calls the receiver of what is typed, once, as a delivery would; what is not typed is the webhook's.
 * @throws Refusal: invalid, also when a host was tested ten times within the hour
 */
export async function tryReceiver(
  env: Env,
  caller: Caller,
  input: WebhookInput,
  id?: string,
): Promise<Attempt> {
  const { headers = {}, notificationTypes } = input;
  const [made] = madeUp({ type: notificationTypes.includes(EVENT) ? EVENT : ACCIDENT }, input);
  const before = id === undefined ? undefined : await findRow(env, caller, id);
  const webhookId = id ?? newId();
  const { set } = await changeOptions(input, { env, webhookId, before: before?.options ?? {} });
  const settings: CallSettings = {
    ...pick(input, plainFields),
    headers: await seal(env, webhookId, headers),
    // Without what is shown once it is saved: nobody knows it yet.
    options: { ...before?.options, ...set },
  };
  const call = await prepareCalls(env, webhookId, settings);
  await countTest(env, caller, 'url', input.url);
  await countTest(env, caller, 'url', input.url, maxTestsOfReceiver);
  for (const { calls } of options()) {
    const also = calls?.(input);
    if (also) await countTest(env, caller, also.field, also.url);
  }
  const at = Date.now();
  const outcome = await call({
    id: newId(at),
    attempt: 1,
    type: made?.type ?? EVENT,
    data: JSON.stringify(made?.data ?? {}),
    startBy: at + callTimeoutMs,
  });
  return { at, durationMs: Date.now() - at, ...(outcome ?? { result: 'timeout' }) };
}

const hostOf = (url: string): string => new URL(normalisedUrl(url)).hostname;

/** Counts a test of a host, which anybody may name here. */
async function countTest(
  env: Env,
  caller: Caller,
  field: string,
  url: string,
  ofAll?: number,
): Promise<void> {
  const host = ofAll ? hostOf(url) : `${caller.accountId} ${hostOf(url)}`;
  const most = ofAll ?? maxTestsOfHost;
  const hour = Math.floor(Date.now() / hourMs);
  const { counted } = await asCaller(env, caller, (db) => ({
    forgotten: db.delete(testCalls).where(lt(testCalls.hour, hour)),
    counted: db
      .insert(testCalls)
      .values({ hour, host, calls: 1 })
      .onConflictDoUpdate({
        target: [testCalls.hour, testCalls.host],
        set: { calls: sql`${testCalls.calls} + 1` },
        setWhere: lt(testCalls.calls, most),
      }),
  }));
  if (counted.meta.changes > 0) return;
  const message = `has a host that was tested ${most} times within the hour. Save the webhook, or try again later`;
  throw invalidField(field, message);
}
