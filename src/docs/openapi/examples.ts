import { accidents } from '../../fleet/lists/accidents.ts';
import { exampleConnectionId as connection } from '../../fleet/lists/resource.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { recordId } from '../../platform/db/ids.ts';
import { eachField } from '../../webhooks/fields.ts';
import { resourceExamples } from './resources.ts';

const event = safetyEvents.itemExample;
const crash = accidents.recordExample;
const account = '01a1fc69-ae8b-7c1e-b1e2-6f0a2d9c5e11';
const webhook = '01a1fc72-831b-772e-98a0-8d9347089f0d';
const delivery = '01a1fc72-832c-703a-8362-7c4a9c12c554';
const requestId = '01a1fc72-8326-7f0c-b0f7-1f1c8d3c9a55';
const written = { createdAt: '2026-11-20T19:58:00.000Z', updatedAt: '2026-11-20T20:00:02.114Z' };

const health = {
  database: 'ok',
  queueBacklog: 0,
  oldestDueSeconds: null,
  sweptSecondsAgo: 21,
  size: { bytes: 3_141_592_653, share: 0.314, daysLeft: 214 },
};
const waitingAccident = {
  deliveryId: delivery,
  webhookId: webhook,
  accountId: account,
  account: 'Acme Insurance',
  level: 1,
  createdAt: '2026-11-20T20:00:02.114Z',
  attempts: 3,
  nextAttemptAt: '2026-11-20T20:01:02.114Z',
};
const headerKey = { key: 'k2', encrypts: 1204, known: true, newest: true };
const quantiles = { p50: 0.21, p95: 0.84, p99: 2.3 };
const level = { count: 1204, inTime: 0.998, firstAttempt: quantiles, delivered: quantiles };
const levels = { accidents: level, events: level };

const failing = {
  webhookId: webhook,
  accountId: account,
  account: 'Acme Insurance',
  failed: 3,
  failures: 7,
  openUntil: '2026-11-20T20:15:00.000Z',
  failedAttempts: 42,
  retrying: 12,
  lastFailure: { kind: 'status', status: 503 },
  nextAttemptAt: '2026-11-20T20:15:00.000Z',
};

const ailing = {
  connectionId: connection,
  accountId: account,
  account: 'Acme Insurance',
  name: 'Long haul',
  healthStatus: 3,
  lastPulledAt: '2026-11-20T20:00:00.000Z',
};
const paused = {
  webhookId: webhook,
  accountId: account,
  account: 'Acme Insurance',
  pausedSince: '2026-11-20T19:42:00.000Z',
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
const webhookInput = eachField('example');
const token = {
  id: '01a1fc69-ae95-7b3f-9c55-2d7f0c4b8a10',
  connectionId: null,
  scope: 'api',
  readOnly: false,
  name: 'claims system',
  lastFour: 'Y3ZA',
  createdAt: written.createdAt,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};
const deletion = {
  id: connection,
  kind: 'connection',
  accountId: account,
  requestedAt: written.createdAt,
  dueAt: written.createdAt,
  step: 'deliveries',
  stepsDone: 0,
  steps: 5,
};
const move = {
  accountId: account,
  from: 'main',
  to: 'us2',
  state: 'copying',
  rows: 103_500,
  copied: 41_000,
  refusedForMs: 0,
  startedAt: written.createdAt,
  problem: null,
};
const lastAnswer = { status: 503, kind: 'status', at: written.updatedAt };
const attempt = { at: written.updatedAt, durationMs: 84, result: 'success', status: 200, answer: 'ok' };

/** One believable example for each component, by its name. */
export const examples: Record<string, unknown> = {
  ...resourceExamples,
  WebhookInput: webhookInput,
  Webhook: { id: webhook, ...webhookInput, createdAt: '2026-11-20T19:58:00.000Z' },
  SigningSecret: { signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  Change: {
    kind: safetyEvents.kind,
    id: event.id,
    connectionId: connection,
    action: 'changed',
    data: event,
  },
  EventNotification: eventPayload,
  AccidentNotification: accidentPayload,
  EventDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 2, data: eventPayload },
  AccidentDelivery: { timestamp: '2026-11-20T20:00:02.114Z', type: 1, data: accidentPayload },
  DeliverySummary: {
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
  },
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
  Home: {
    name: 'eu',
    accounts: 41,
    bytes: 3_141_592_653,
    share: 0.314,
    eventsPerDay: 48_210,
    fullOn: '2027-06-22',
  },
  IngestInput: {
    records: [
      {
        kind: 'vehicle',
        sourceId: 't7',
        name: 'Truck 7',
        vin: '1FUJGLDR5CLBP8834',
        groups: ['North'],
      },
      {
        kind: 'safetyEvent',
        sourceId: 'e1',
        vehicle: 't7',
        incidentTypes: ['hard_brake'],
        startedAt: '2026-11-20T20:00:00Z',
        recipients: ['safety@example.com'],
      },
    ],
  },
  IngestOutcome: {
    accepted: 2,
    unchanged: 0,
    rejected: [{ index: 2, sourceId: 'e2', message: 'startedAt is required' }],
  },
  IngestWarning: { field: 'incidentTypes', message: 'maps hard_break to Other', records: 2, index: 0 },
  NewAccount: { name: 'Acme Insurance' },
  AccountChange: { status: 'suspended' },
  Account: {
    id: account,
    name: 'Acme Insurance',
    status: 'active',
    home: 'main',
    createdAt: written.createdAt,
  },
  AuditEntry: {
    at: written.createdAt,
    accountId: account,
    actor: 'person',
    actorId: '01a1fc69-aea1-7f11-8f0d-77b3f0c2d4e6',
    actorName: 'ann@example.com',
    action: 'created',
    subject: 'API token',
    subjectId: token.id,
    subjectName: token.name,
    fields: [],
  },
  AccountDeletion: { name: 'Acme Insurance', now: false },
  ConnectionDeletion: { name: 'Long haul' },
  Deletion: deletion,
  DeletionProgress: { deletion },
  NewMove: { to: 'us2' },
  Move: move,
  MoveProgress: { move },
  ArchiveRepair: { kind: 'trips', date: '2026-05-31' },
  ArchiveRepaired: {
    catalog: { files: 2, records: 6210 },
    bucket: { files: 2, records: 6208 },
    applied: false,
  },
  NewConnection: { provider: 'samsara', name: 'City vans' },
  ConnectionChange: { healthStatus: 2 },
  OperatorConnection: {
    id: connection,
    accountId: account,
    name: 'Long haul',
    provider: 'motive',
    tSP: 'Motive',
    healthStatus: 1,
    incidentTypeMap: { curb_strike: ['Unsafe Maneuver'] },
    lastPulledAt: null,
    ...written,
  },
  NewToken: { name: 'claims system' },
  NewApiToken: { name: 'claims system' },
  Token: token,
  IssuedToken: { ...token, value: 'fds_RI4FmOOGZFxxFrKwixWqSSAB2ruz_bE4OYZUEDKBLGY7ap3ZA' },
  NewUser: { email: 'ann@example.com', role: 'member' },
  SignInLinkInput: { email: 'ann@example.com' },
  PortalUser: {
    id: '01a1fc69-aea1-7f11-8f0d-77b3f0c2d4e6',
    accountId: account,
    email: 'ann@example.com',
    role: 'member',
    createdAt: written.createdAt,
    lastSignInAt: null,
    pending: true,
  },
  SignInLink: { url: 'https://api.example.com/portal/sign-in/hq3…' },
  WebhookFilters: { minEventRisk: 4, vehicleGroups: ['North'] },
  WebhookHealth: {
    id: webhook,
    url: webhookInput.url,
    failures: 0,
    openUntil: null,
    maxInFlight: 10,
    maxPerSecond: 20,
    window: 10,
  },
  Delivery: {
    id: delivery,
    webhookId: webhook,
    eventId: event.id,
    type: 2,
    level: 0,
    status: 'delivered',
    attempts: 1,
    nextAttemptAt: null,
    finishedAt: '2026-11-20T20:00:02.198Z',
    requestId,
    log: [attempt],
    attemptsOmitted: 0,
  },
  FoundDelivery: {
    id: delivery,
    webhookId: webhook,
    eventId: event.id,
    level: 0,
    status: 'delivered',
    attempts: 1,
    nextAttemptAt: null,
    accountId: account,
    account: 'Acme Insurance',
    createdAt: '2026-11-20T20:00:02.114Z',
  },
  AttemptEntry: attempt,
  StatusReport: {
    problem: null,
    warning: null,
    health,
    pending: 12,
    due: 0,
    later: 12,
    oldestPendingAt: '2026-11-20T20:00:02.114Z',
    serviceLevels: { day: levels, month: levels },
    accidents: [waitingAccident],
    failing: [failing],
    paused: [paused],
    connections: [ailing],
    headerKeys: [headerKey],
  },
  WaitingAccident: waitingAccident,
  HeaderKey: headerKey,
  WaitQuantiles: quantiles,
  ServiceLevel: level,
  ServiceLevels: levels,
  FailingWebhook: failing,
  PausedWebhook: paused,
  AilingConnection: ailing,
  NewCredential: { credential: 'samsara_api_RI4FmOOGZFxxFrKwix' },
  WebhookSecret: { secret: 'c2VjcmV0IG9mIHRoZSBwcm92aWRlcidzIHdlYmhvb2s=' },
  Pull: {
    provider: 'samsara',
    organisation: 'Acme Trucking',
    baseUrl: 'https://api.samsara.com',
    state: 'pulling',
    hasWebhookSecret: true,
    lastPulledAt: '2026-11-20T20:00:00.000Z',
    historyDays: 90,
    feeds: [
      {
        feed: 'events',
        everyMinutes: 1,
        problem: null,
        history: { share: 0.4, records: 1204, recordsPerMinute: 310, endsAt: '2026-11-20T20:06:00.000Z' },
      },
    ],
    refusals: [
      {
        kind: 'safetyEvent',
        sourceId: 'e-17',
        reason: 'location.latitude must be from -90 to 90',
        at: '2026-11-20T20:00:00.000Z',
      },
    ],
    unmapped: [{ word: 'SamsaraCustomEvent1', count: 3 }],
  },
  ReplayRange: { since: '2026-11-20T00:00:00Z' },
  Replayed: { replayed: 12, more: false },
  ReplayCount: { count: 12, more: false, tooOld: 0 },
  ReceiverLimits: { maxInFlight: 10, maxPerSecond: 20 },
};
