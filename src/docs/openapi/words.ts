import type { Field, Fields } from '../../core/fleet/lists/field.ts';
import { evidenceFile } from '../../core/fleet/lists/field-objects.ts';
import { lists, recordKinds } from '../../core/fleet/lists/registry.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { eachField } from '../../core/webhooks/fields.ts';
import { itemName, recordName } from './examples.ts';

/** Descriptions of a component and its properties. */
export const wordsOf = (
  name: string,
  description: string,
  properties: { [name: string]: string },
) => ({
  [name]: description,
  ...Object.fromEntries(
    Object.entries(properties).map(([property, text]) => [`${name}.${property}`, text]),
  ),
});

export const meanings = (fields: Fields, meaning = ({ description }: Field) => description) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, meaning(field)]));

/** Descriptions, as `components` takes them. Options of webhooks have theirs only once they are installed. */
export const words = (): Record<string, string> => ({
  ...eachField('description'),
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
  pausedAt: 'When it was paused; missing or null if it is not.',
  state: 'Whether deliveries are sent to it now; only with `include=state`.',
  ...wordsOf(
    'EventNotification',
    'What happened: the payload of type 2.',
    meanings(safetyEvents.itemFields),
  ),
  AccidentNotification:
    'One level of an accident: the payload of type 1. All levels share one `eventId`.',
  EventDelivery: 'The body of a delivery about a safety event.',
  AccidentDelivery: 'The body of a delivery about one level of an accident.',
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
    'What is wrong with the field, and whether its value was corrected or dropped. It repeats no value but a label that ' +
    'became `Other`.',
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
  externalId: "The account's own identifier, such as a policy or fleet number; null for none.",

  id: 'Its identifier.',
  sourceId: "The provider's own identifier.",
  createdAt: 'When it was created.',
  tSP: "The provider's name for people, such as `Samsara`.",
  status: 'The HTTP status.',
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
  size: 'How full the database is; null if it does not respond.',
  daysLeft: 'In how many days it will be full; null if it is not growing, or too new to estimate.',
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

  'AccountChange.status':
    'A suspended account is refused everywhere, with immediate effect, and its deliveries wait.',
  expiresAt: 'When it expires; null or missing for never.',
  'NewApiToken.connectionIds':
    'The only connections whose data it may read and change, and whose webhooks; if left out, all of the account.',
  readOnly: 'Whether an API token may only read, without seeing the headers of webhooks.',
  role: 'Their role: an admin may do everything, a member everything except managing people and tokens, a viewer may only read.',
  'SignInLinkInput.accountId': 'The account to open, if several have invited the person.',
  incidentTypeMap:
    "The provider's incident labels, each with the normalised types that it stands for.",
  now: 'Whether to delete it at once, instead of in 30 days.',
  recordsPerDay: 'How many new records it may add a day; null for as many as usual.',
  bytesPerDay: 'How many bytes of new records it may add a day; null for as many as usual.',
  deliveriesPerDay:
    'How many deliveries of new records it may cause a day; null for as many as usual.',
  requestsPerMinute:
    'How many requests a minute each API token and ingest key of it may make; null for as many as usual.',
  limit: 'How many to return at most.',
  cursor: 'The `next` of the page before; without one, the list begins.',
  to: 'Only those before this time.',
  healthStatus: '1 healthy, 2 warning, 3 unavailable, 4 degraded.',
  provider: "The provider's short name, in lower case.",
  name: 'Its name.',
  email: 'Their email address.',
});

/** What a field of a record means. */
function meaningInRecord({
  refersTo,
  nullable,
  description,
  inRecord,
  most,
  omitted,
}: Field): string {
  if (!refersTo) return [inRecord ?? description, most, omitted].filter(Boolean).join(' ');
  const { kind } = refersTo;
  return `The ${kind}'s sourceId${nullable ? '.' : `; the ${kind} must be known, or in the same call.`}`;
}
