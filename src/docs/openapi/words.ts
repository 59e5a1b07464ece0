import { accidents } from '../../core/fleet/lists/accidents.ts';
import type { Field, Fields } from '../../core/fleet/lists/field.ts';
import { evidenceFile } from '../../core/fleet/lists/field-objects.ts';
import { alternatives } from '../../core/fleet/lists/field-types.ts';
import { meaningInRecord } from '../../core/fleet/lists/record.ts';
import { lists, recordKinds } from '../../core/fleet/lists/registry.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { eachField } from '../../core/webhooks/fields.ts';
import { changeKinds, changesByKind } from '../../extras/changes/schema.ts';
import { itemName, recordName } from './examples.ts';

const kindWords = `What it is: ${alternatives(changeKinds)}; there may be more in future, unless \`kinds\` says which.`;

const wordsOf = (name: string, description: string, properties: { [name: string]: string }) => ({
  [name]: description,
  ...Object.fromEntries(
    Object.entries(properties).map(([property, text]) => [`${name}.${property}`, text]),
  ),
});

const meanings = (fields: Fields, meaning = ({ description }: Field) => description) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, meaning(field)]));

const filterWords = (name: string) =>
  wordsOf(name, 'A webhook is notified of what passes all its filters.', {
    minEventRisk: 'Safety events of at least this risk. Accidents have none, and pass.',
    incidentTypes: 'Safety events of at least one of these types. Accidents pass.',
    vehicleGroups:
      'Notifications about vehicles in at least one of these groups at that time. An accident of an unknown vehicle passes.',
    accidentLevels: 'These levels of accidents. Safety events pass.',
  });

const ofDelivery = {
  id: 'The Delivery-Id, the same on each attempt.',
  status:
    'pending until it is delivered or failed for good; cancelled when the webhook no longer subscribes to it.',
  level: "The accident's level; null for an event.",
  nextAttemptAt: 'When it is due next; null unless it is pending.',
  createdAt: 'When the notification was received.',
};

const ofAnswer = {
  status: "The receiver's HTTP status; null if there was none.",
  at: 'When that attempt was made.',
  kind: 'success, status, redirect, timeout, dns, tls, connection, token or blocked address; there may be more in future.',
  reason:
    'What else is known of a failure, in words: where a redirect leads, or what the token endpoint returned.',
};

/** Describes a `Component`, `property` or `Component.property`. */
export function describe(name: string): string | undefined {
  const { [name]: ofWebhook }: Record<string, string | undefined> = eachField('description');
  return words[name] ?? ofWebhook;
}

const words: Record<string, string> = {
  ...Object.assign(
    {},
    ...lists.map((list) => wordsOf(itemName(list), list.description, meanings(list.itemFields))),
    ...recordKinds.map((kind) =>
      wordsOf(recordName(kind), kind.recordDescription, {
        kind: 'What it is.',
        ...meanings(kind.recordFields, meaningInRecord),
      }),
    ),
  ),
  ...wordsOf('AccidentWithEvidence', 'An accident as its list shows it, with its evidence.', {
    ...meanings(accidents.itemFields),
    evidence:
      'Its videos, photos, reports and telemetry; missing if there are none, or if your account keeps none.',
  }),
  ...wordsOf('Evidence', 'A file about an accident.', {
    id: 'Its identifier.',
    kind: 'What it is.',
    camera: 'Which camera took it, if the provider says.',
    takenAt: 'When it was taken, if the provider says.',
    state: 'waiting until it is copied or missed.',
    reason: 'Why it was missed, or why copying it has failed so far.',
    contentType: 'Its type, by its first bytes; null until it is stored.',
    bytes: 'Its size.',
    sha256: 'Its SHA-256 checksum, in hexadecimal.',
    storedAt: 'When its copy was complete.',
    expiresAt: 'When it will be deleted.',
  }),
  ExportInput: 'What to export.',
  'ExportInput.lists': 'Which lists; all unless it is given.',
  'ExportInput.formats': 'In which formats, a file of each list in each; CSV unless it is given.',
  'ExportInput.from':
    'Only trips, safety events and accidents at this time or later. A date is its midnight UTC.',
  'ExportInput.to': 'Only trips, safety events and accidents before this time.',
  ...wordsOf('DataExport', 'Lists as files.', {
    state: 'preparing until its files are ready or it has failed.',
    lists: 'The lists that it has.',
    formats: 'The formats of its files.',
    from: 'The beginning of its trips, safety events and accidents; null for all.',
    to: 'The end of these, which is excluded; null for all.',
    connectionIds:
      'The connections that it has, if a token that is limited to some asked for it; null for all of the account.',
    records: 'How many records it has so far.',
    truncated: 'Whether records are missing because it has the most that an export can have.',
    files: 'Its files, once it is ready.',
    requestedAt: 'When it was asked for.',
    expiresAt: 'When its files are deleted.',
  }),
  ...wordsOf('ExportFile', 'A file of an export.', {
    name: 'Its name, by which it is downloaded.',
    records: 'How many records it has.',
    bytes: 'Its size.',
  }),
  AccidentLevel: 'A level that an accident has reached.',
  Handled: 'Who acknowledged or closed an accident in the portal, when, and with which note.',
  'Handled.at': 'When they did it.',
  'Handled.by': 'Their email address.',
  'Handled.note': 'Their note, or null.',
  EvidenceLink: 'A link to a file about an accident.',
  ...Object.fromEntries(
    Object.entries(evidenceFile).map(([name, field]) => [
      `EvidenceLink.${name}`,
      meaningInRecord(field),
    ]),
  ),
  Location: 'A place, in decimal degrees.',
  VehicleLocation: 'Where a vehicle was last seen, and when.',
  WebhookInput: 'A webhook as you set it up.',
  WebhookUpdate: 'A webhook as it should be from now on.',
  Webhook: 'A webhook of the account.',
  ...filterWords('WebhookFilters'),
  ...filterWords('WebhookFiltersInput'),
  SigningSecret: 'A new signing secret.',
  tokenUrl: 'The token endpoint, at an address like that of a receiver.',
  clientId: 'The client.',
  clientSecret: 'Its secret, which is never returned.',
  scope: 'The scope to request.',
  params:
    'More parameters of the token request, such as `audience` or `resource`. Encrypted like the secret; read-only tokens do not see them.',
  signingSecret:
    'What deliveries are signed with: `whsec_` and 32 bytes in base64. Shown only once.',
  pausedAt: 'When it was paused; missing or null if it is not.',
  state: 'Whether deliveries are sent to it now; only with `include=state`.',
  ReplayInput: 'Which deliveries to replay: without properties, all that the webhook has missed.',
  'ReplayInput.from': 'Only deliveries created at this time or later.',
  'ReplayInput.to': 'Only deliveries created before this time.',
  dryRun: 'Whether only to count them.',
  ReplayOutcome: 'How many deliveries are sent again.',
  'ReplayOutcome.count': 'How many are sent again; in a dry run, how many would be.',
  'ReplayOutcome.more': 'Whether there are more after those that this call read.',
  'ReplayOutcome.next': 'If there are more: the Delivery-Id to continue with as `after`.',
  'ReplayOutcome.tooOld':
    'In a dry run: how many are too old to be replayed; 5,000 means that many or more.',
  TestInput: 'What to test a webhook with.',
  'TestInput.type': '1 an accident, 2 an event.',
  'TestInput.level': 'The level of the accident; without it, all three.',
  TestSent: 'The test that was sent.',
  'TestSent.eventId': 'The event or accident of the test.',
  deliveryIds: 'The Delivery-Ids, in the order in which they are sent.',
  ...wordsOf(
    'EventNotification',
    'What happened: the payload of type 2.',
    meanings(safetyEvents.itemFields),
  ),
  AccidentNotification:
    'One level of an accident: the payload of type 1. All levels share one `eventId`.',
  EventDelivery: 'The body of a delivery about a safety event.',
  AccidentDelivery: 'The body of a delivery about one level of an accident.',
  Change: 'One record that changed, and how it is now.',
  ...Object.fromEntries(changesByKind.map(({ kind, name }) => [name, `A change of kind ${kind}.`])),
  ...wordsOf('DeliverySummary', 'One notification for one webhook, and its status.', ofDelivery),
  ...wordsOf('DeliveryDetails', 'The same, with what is sent and its attempts.', {
    ...ofDelivery,
    payload: 'What is sent as `data`; null past retention.',
    attemptLog: 'The first attempt and the latest 20.',
    attemptsOmitted: 'How many attempts between them are not kept.',
  }),
  ...wordsOf('LastAnswer', 'The result of the latest attempt.', ofAnswer),
  ...wordsOf('DeliveryAttempt', 'The result of an attempt.', {
    ...ofAnswer,
    durationMs: 'How long it took, in milliseconds.',
    answer: 'The beginning of the response that failed, up to 1 KiB.',
  }),
  WebhookState: 'Whether deliveries are sent to a webhook now.',
  'WebhookState.status':
    '`paused` by its account or us; `waiting` after failures, until `nextAttemptAt`; otherwise `active`.',
  'WebhookState.failures': 'How many attempts in a row have failed.',
  'WebhookState.nextAttemptAt': 'When its receiver is tried again; null unless it is waiting.',
  'Failure.reason': 'Why, if the credential is not: `Account is suspended`.',
  Failure: 'A failed request. It never repeats what was sent.',
  FieldError: 'One invalid field.',
  Health: 'The health of the service.',
  UnhealthyReply: 'What is wrong with the service.',
  IngestInput: 'What a connector sends: up to 500 records and 1 MiB.',
  IngestOutcome: 'The result of a call.',
  'IngestOutcome.warnings':
    'What the sender should check: the worst first, at most 20; left out if there is nothing.',
  'IngestOutcome.moreWarnings': 'How many others there are, if there are more.',
  IngestWarning: 'A problem with accepted records.',
  'IngestWarning.message':
    'What is wrong with the field, and whether its value was corrected or dropped. It never repeats the value.',
  'IngestWarning.records': 'How many records have it.',
  'IngestWarning.index': 'The index of the first one, from 0.',
  'IngestWarning.otherIndex':
    'The index of the record that it contradicts, if that is the problem.',
  Rejection: 'A record that lacks something it needs, and what.',
  'IngestInput.dryRun':
    'Whether only to check the records, and to find who would be notified: nothing is stored.',
  'IngestOutcome.wouldNotify': 'In a dry run: the records that some webhook would be notified of.',
  WouldNotify: 'A record that would notify webhooks.',
  'WouldNotify.notificationLevel': 'The level, of an accident.',
  'WouldNotify.webhooks': 'The first 20 of the webhooks, by id and name.',
  'WouldNotify.more': 'How many further ones there are; left out if there are none.',
  ExternalIdInput: 'Your own identifier for it; null removes it.',
  externalId: "The account's own identifier, such as a policy or fleet number; null for none.",

  id: 'Its identifier.',
  sourceId: "The provider's own identifier.",
  createdAt: 'When it was created.',
  tSP: "The provider's name for people, such as `Samsara`.",
  status: 'The HTTP status.',
  ...Object.fromEntries(
    ['Change', ...changesByKind.map(({ name }) => name)].flatMap((name) => [
      [`${name}.kind`, name === 'Change' ? kindWords : 'What it is.'],
      [`${name}.id`, 'Its identifier, as in its list.'],
      [`${name}.connectionId`, 'The connection it belongs to.'],
      [`${name}.action`, 'changed: it is new or different. deleted: it no longer exists.'],
      [`${name}.data`, 'The item as its list shows it now; null if it was deleted.'],
    ]),
  ),
  vin: 'The vehicle identification number.',
  receivedAt: 'When the service first received it.',
  latitude: 'Degrees north of the equator.',
  longitude: 'Degrees east of Greenwich.',
  address: "The provider's name of the place, such as a road and a town.",
  altitudeMeters: 'Metres above sea level.',
  speedKph: 'Kilometres per hour.',
  timestamp: 'When it was there.',
  'EventDelivery.timestamp': 'When this attempt was made.',
  'AccidentDelivery.timestamp': 'When this attempt was made.',
  location: 'Where it happened.',
  'EventNotification.vehicleVin': "The vehicle's VIN at that time; empty if it had none.",
  recipients: 'The email addresses of the people to notify.',
  type: '1 accident, 2 event.',
  data: 'What it is about.',
  message: 'The result, for people.',
  'FieldError.message': 'What it must be.',
  'Rejection.message': 'Why it was refused.',
  requestId: "Identifies this request in the service's log; the same as X-Request-Id.",
  errors: 'The invalid fields, at most 20.',
  retryAfter: 'Seconds to wait before trying again.',
  field: 'The field: a path into the body, a query parameter or a header.',
  eventId: 'The event, or the accident whose levels share it.',
  eventTime: 'When it happened.',
  connection: 'The connection it belongs to.',
  notificationLevel: '1 first detection, 2 verified, 3 report-ready.',
  reportReady: 'Whether the full report is available.',
  isAccurate: 'Whether the detection has been verified.',
  database: 'Whether the database responds.',
  queueBacklog: 'Messages waiting in the queue; null if unknown.',
  oldestDueSeconds:
    'For how many seconds the oldest delivery that no worker has claimed has been due, as of the last sweep; null if there is none.',
  sweptSecondsAgo:
    'How long ago the scheduled jobs last ran, in seconds; null if they have not run yet.',
  size: 'How full the database is: how many bytes, which share of the most, and in how many days it will be full (null if it is not growing, or too new to estimate). Null if it does not respond.',
  bytes: 'How large it is.',
  share: 'Its size as a share of the maximum, from 0 to 1.',
  records:
    'The records, each of one kind. Those that are valid are accepted even if others are refused.',
  notify:
    'Whether webhooks are notified. Use false to load history: nobody is ever notified of it.',
  accepted: 'How many records were new or changed.',
  unchanged: 'How many were known already, or older than what is known.',
  rejected: 'The records that were refused.',
  heldBack:
    'How many new safety events are stored, but not sent, because they began more than seven days ago. Left out if there are none.',
  index: 'Its index in the call, from 0.',
  webhookId: 'The webhook that it is for.',
  attempts: 'How many attempts have been made on its current schedule.',
  lastAnswer: 'The result of the latest attempt; null before the first.',
  includeDelivered:
    'Whether to send delivered ones again too, or only those that failed or were cancelled.',
  after: 'Only deliveries that follow this Delivery-Id.',

  'AccountChange.status':
    'A suspended account is refused everywhere, with immediate effect, and its deliveries wait.',
  expiresAt: 'When it expires; null or missing for never.',
  'NewApiToken.connectionIds':
    'The only connections whose data it may read and change, and whose webhooks; if left out, all of the account.',
  readOnly: 'Whether an API token may only read, without seeing the headers of webhooks.',
  role: 'Their role: an admin may do everything, a member everything except managing people and tokens, a viewer may only read.',
  'SignInLinkInput.accountId': 'The account to open, if several have invited the person.',
  credential: "The provider's token, or JSON. It is stored encrypted, and never returned.",
  baseUrl:
    "The address of the provider's API, or the name of one of its regions; without it, the usual one.",
  historyDays: 'How many days of history are loaded; 90 unless it is given.',
  incidentTypeMap:
    "The provider's incident labels, each with the normalised types that it stands for.",
  secret: "The secret that signs the calls of the provider's webhook.",
  'NewConnectLink.name': 'Its recipient.',
  'ArchiveRepair.kind': 'The kind of records.',
  'ArchiveRepair.date': 'The day, UTC.',
  'ArchiveRepair.apply': 'Whether to repair; without it nothing changes.',
  'NewChannel.kind': '`slack`, `teams`, or `https` for JSON.',
  'NewChannel.url': 'Where messages are sent. It is never shown again.',
  'NewChannel.accidentLevels': 'Accidents that reach these levels.',
  'NewChannel.minEventRisk': 'Safety events of at least this risk.',
  'NewChannel.vehicleGroups': 'Only of vehicles in these groups.',
  getsAlerts: 'Whether it is notified of problems with webhooks and connections.',
  now: 'Whether to delete it at once, instead of in 30 days.',
  recordsPerDay: 'How many new records it may add a day; null for as many as usual.',
  bytesPerDay: 'How many bytes of new records it may add a day; null for as many as usual.',
  deliveriesPerDay:
    'How many deliveries of new records it may cause a day; null for as many as usual.',
  requestsPerMinute:
    'How many requests a minute each API token and ingest key of it may make; null for as many as usual.',
  maxInFlight: "The operators' limit of calls at a time; null: up to 50.",
  maxPerSecond: "The operators' limit of calls a second; null: no limit.",
  since: 'Only deliveries created at this time or later.',
  until: 'Only deliveries created before this time.',
  before: 'Only those older than this Delivery-Id.',
  limit: 'How many to return at most.',
  cursor: 'The `next` of the page before; without one, the list begins.',
  to: 'Only those before this time.',
  'countReplay.includeDelivered': 'Whether to count those that were delivered, too.',
  healthStatus: '1 healthy, 2 warning, 3 unavailable, 4 degraded.',
  provider: "The provider's short name, in lower case.",
  name: 'Its name.',
  email: 'Their email address.',
  'listDeliveries.since': 'Only those since this time.',
  'listDeliveries.status': 'Only those with this status.',
  'listDeliveries.webhookId': "The webhook's id.",
};
