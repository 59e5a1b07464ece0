import { accidents } from '../../core/fleet/lists/accidents.ts';
import { lists, recordKinds } from '../../core/fleet/lists/registry.ts';
import { exampleConnectionId as connection } from '../../core/fleet/lists/resource.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { recordId } from '../../core/platform/db/ids.ts';
import { capital } from '../../core/platform/text.ts';
import { coreFields } from '../../core/webhooks/fields.ts';

/** The components of a list's item, and of a connector's record. */
export const itemName = ({ kind }: { kind: string }): string => capital(kind);
export const recordName = ({ kind }: { kind: string }): string => `${capital(kind)}Record`;

const event = safetyEvents.itemExample;
const crash = accidents.recordExample;
export const exampleWebhookId = '01a1fc72-831b-772e-98a0-8d9347089f0d';
const requestId = '01a1fc72-8326-7f0c-b0f7-1f1c8d3c9a55';

const health = {
  database: 'ok',
  queueBacklog: 0,
  oldestDueSeconds: null,
  sweptSecondsAgo: 21,
  size: { bytes: 3_141_592_653, share: 0.314, daysLeft: 214 },
};

const eventPayload = {
  eventId: event.id,
  issuedOn: event.issuedOn,
  translatedIncidentTypes: event.translatedIncidentTypes,
  eventRisk: event.eventRisk,
  vehicleId: event.vehicleId,
  vehicleName: event.vehicleName,
  vehicleVin: event.vehicleVin,
  vehicleGroups: event.vehicleGroups,
  recipients: ['safety@example.com'],
};
const accidentPayload = {
  eventId: recordId(connection, crash.kind, crash.sourceId),
  eventTime: '2026-11-20T20:00:00.000Z',
  vin: event.vehicleVin,
  connection,
  tSP: event.tSP,
  location: { latitude: 39.7392, longitude: -104.9903 },
  notificationLevel: 1,
  reportReady: false,
  isAccurate: false,
};
const webhookInput = Object.fromEntries(
  Object.entries(coreFields).map(([name, { example }]) => [name, example]),
);

/** Examples of components by name. Those of operators have none. */
export const examples: Record<string, unknown> = {
  ...Object.fromEntries(lists.map((resource) => [itemName(resource), resource.itemExample])),
  ...Object.fromEntries(
    recordKinds.map((resource) => [recordName(resource), resource.recordExample]),
  ),
  WebhookInput: webhookInput,
  WebhookUpdate: webhookInput,
  Webhook: { id: exampleWebhookId, ...webhookInput, createdAt: '2026-11-20T19:58:00.000Z' },
  EventNotification: eventPayload,
  AccidentNotification: accidentPayload,
  EventDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 2, data: eventPayload },
  AccidentDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 1, data: accidentPayload },
  Failure: { status: 401, message: 'Invalid or expired token', requestId },
  UnhealthyReply: {
    status: 503,
    message: 'Deliveries are late',
    requestId,
    retryAfter: 60,
    data: { ...health, queueBacklog: 1840, oldestDueSeconds: 412 },
  },
  Health: health,
  IngestInput: { records: recordKinds.map(({ recordExample }) => recordExample) },
  IngestOutcome: {
    accepted: 2,
    unchanged: 0,
    rejected: [{ index: 2, sourceId: 'e2', message: 'startedAt is required' }],
  },
  IngestWarning: {
    field: 'incidentTypes',
    message: 'has the unknown label hard_break, which becomes Other',
    records: 2,
    index: 0,
  },
};
