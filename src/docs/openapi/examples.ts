import { accidents } from '../../core/fleet/lists/accidents.ts';
import { lists, recordKinds } from '../../core/fleet/lists/registry.ts';
import { exampleConnectionId as connection } from '../../core/fleet/lists/resource.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { recordId } from '../../core/platform/db/ids.ts';
import { capital } from '../../core/platform/text.ts';
import { coreFields } from '../../core/webhooks/fields.ts';
import { changesByKind } from '../../extras/changes/schema.ts';

/** The components of a list's item, and of a connector's record. */
export const itemName = ({ kind }: { kind: string }): string => capital(kind);
export const recordName = ({ kind }: { kind: string }): string => `${capital(kind)}Record`;

const event = safetyEvents.itemExample;
const crash = accidents.recordExample;
const webhook = '01a1fc72-831b-772e-98a0-8d9347089f0d';
const delivery = '01a1fc72-832c-703a-8362-7c4a9c12c554';
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
const evidence = {
  id: recordId(connection, 'evidence', crash.sourceId),
  kind: 'video',
  camera: 'Road',
  takenAt: '2026-11-20T20:00:00.000Z',
  state: 'stored',
  reason: null,
  contentType: 'video/mp4',
  bytes: 8_412_310,
  sha256: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  storedAt: '2026-11-20T20:01:10.000Z',
  expiresAt: '2027-11-20T20:00:02.000Z',
};
const exported = {
  id: '01a1fc72-8340-7c11-9a53-5d0f7b21e6aa',
  state: 'ready',
  lists: ['trips'],
  formats: ['csv'],
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  connectionIds: null,
  records: 18_204,
  truncated: false,
  files: [{ name: 'trips.csv', records: 18_204, bytes: 5_104_332 }],
  requestedAt: '2026-11-21T06:00:00.000Z',
  expiresAt: '2026-11-28T06:00:41.000Z',
};
const webhookInput = Object.fromEntries(
  Object.entries(coreFields).map(([name, { example }]) => [name, example]),
);
const filters = { minEventRisk: 4, vehicleGroups: ['North'] };
const lastAnswer = { status: 503, kind: 'status', at: '2026-11-20T20:00:02.114Z' };
const deliveryAttempt = { ...lastAnswer, durationMs: 84, answer: 'Service Unavailable' };
const deliverySummary = {
  id: delivery,
  webhookId: webhook,
  eventId: event.id,
  type: 2,
  level: null,
  status: 'pending',
  attempts: 1,
  nextAttemptAt: '2026-11-20T20:00:07.198Z',
  createdAt: '2026-11-20T20:00:02.092Z',
  lastAnswer,
};
const changes = Object.fromEntries(
  lists.map(({ kind, list, itemExample: data }, at) => {
    const { [list.id]: id } = data as { [field: string]: unknown }; // the field that it is found by
    return [
      changesByKind[at]?.name,
      { kind, id, connectionId: connection, action: 'changed', data },
    ];
  }),
);

/** Examples of components by name. Those of operators have none. */
export const examples: Record<string, unknown> = {
  ...Object.fromEntries(lists.map((resource) => [itemName(resource), resource.itemExample])),
  ...Object.fromEntries(
    recordKinds.map((resource) => [recordName(resource), resource.recordExample]),
  ),
  AccidentWithEvidence: { ...accidents.itemExample, evidence: [evidence] },
  Evidence: evidence,
  WebhookInput: webhookInput,
  WebhookUpdate: webhookInput,
  Webhook: { id: webhook, ...webhookInput, createdAt: '2026-11-20T19:58:00.000Z' },
  SigningSecret: { signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  ...changes,
  Change: changes.ChangedSafetyEvent,
  EventNotification: eventPayload,
  AccidentNotification: accidentPayload,
  EventDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 2, data: eventPayload },
  AccidentDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 1, data: accidentPayload },
  DeliverySummary: deliverySummary,
  DeliveryDetails: {
    ...deliverySummary,
    payload: eventPayload,
    attemptLog: [deliveryAttempt],
    attemptsOmitted: 0,
  },
  DeliveryAttempt: deliveryAttempt,
  LastAnswer: lastAnswer,
  ReplayInput: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', dryRun: true },
  ReplayOutcome: { count: 12, more: false, tooOld: 0 },
  TestInput: { type: 1, level: 1 },
  TestSent: { eventId: event.id, deliveryIds: [delivery] },
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
  ExportInput: {
    lists: exported.lists,
    formats: exported.formats,
    from: '2026-11-01',
    to: '2026-11-21',
  },
  DataExport: exported,
  ExportFile: exported.files[0],
  ExternalIdInput: { externalId: 'FL-0042' },
  WebhookFilters: filters,
  WebhookFiltersInput: filters,
};
