import { linkMs, sessionMs } from '../../accounts/sessions.ts';
import { maxApiTokens, maxIngestKeys } from '../../accounts/tokens/service.ts';
import { maxRows } from '../../fleet/changes/feed.ts';
import { maxExportRecords, maxExportsPerDay } from '../../fleet/exports/exports.ts';
import { maxReportUrlLength } from '../../fleet/lists/accidents.ts';
import { maxAddressLength } from '../../fleet/lists/field-types.ts';
import { maxExternalId } from '../../fleet/lists/resource.ts';
import { incidentTypeLimits, recipientLimits } from '../../fleet/lists/safety-events.ts';
import { groupLimits, maxNameBytes, maxVinBytes } from '../../fleet/lists/vehicles.ts';
import { keptMs } from '../../fleet/note-changes.ts';
import { fewRecords } from '../../ingest/service.ts';
import { maxWarnings } from '../../ingest/warnings.ts';
import { maxPageBytes, maxScanned } from '../../platform/db/pages.ts';
import { allExpiredMs } from '../../platform/db/token-cache.ts';
import { dayMs, minuteMs } from '../../platform/durations.ts';
import { maxLargeWaiting } from '../../platform/fair-queue.ts';
import { maxClockLeadMs, maxName } from '../../platform/fields.ts';
import { rateLimits } from '../../platform/rate-limits.ts';
import { maxUrlLength } from '../../webhooks/address.ts';
import { maxChannels, maxPerAccountAndDay } from '../../webhooks/alerts/messages.ts';
import { startWindowMs } from '../../webhooks/deliveries/claim.ts';
import * as policy from '../../webhooks/deliveries/policy.ts';
import { maxReplayedPerCall } from '../../webhooks/deliveries/replay.ts';
import * as webhooks from '../../webhooks/fields.ts';
import { maxWebhookBytes, maxWebhooks } from '../../webhooks/service.ts';

/** What is limited, how far, and what happens beyond it. */
type Limit = [what: string, limit: string, beyond: string];

const n = (value: number): string => value.toLocaleString('en-US');
const bytes = (size: number): string =>
  size >= 2 ** 20 ? `${size / 2 ** 20} MiB` : size >= 1024 ? `${size / 1024} KiB` : `${size} bytes`;
const count = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;
const time = (ms: number): string => {
  if (ms % dayMs === 0) return count(ms / dayMs, 'day');
  return ms >= minuteMs ? count(ms / minuteMs, 'minute') : count(ms / 1000, 'second');
};
const perMinute = (limiter: keyof typeof rateLimits): string => `${n(rateLimits[limiter].calls)} a minute`;
const list = ({ max, length, bytes }: { max: number; length: number; bytes: number }): string =>
  `${max}, of ${length} characters each, and ${n(bytes)} bytes as JSON`;

/**
 * The limits that clients can meet, by section, for `x-limits` in the API's document and the tables of the guide
 * Limits. Literal numbers here are spelled out in a schema.
 */
export const limits: { [section: string]: Limit[] } = {
  api: [
    ['requests per API token, ingest key or portal session', perMinute('TOKEN_LIMIT'), '429'],
    [
      'tests and replays per API token',
      `${perMinute('ACTION_LIMIT')}, ${n(rateLimits.ACCOUNT_ACTION_LIMIT.calls)} per account`,
      '429',
    ],
    ['requests with invalid tokens per address', perMinute('UNKNOWN_LIMIT'), '429'],
    ['`GET /health` per address', perMinute('HEALTH_LIMIT'), '429'],
    ['request body', '64 KiB', '413'],
    ['`limit` of a list', '500, 50 by default', 'treated as 500'],
    ['`vehicleIds`, `driverIds`, `eventTypes`', '100 values each', '400'],
    ['other text parameters', '1,000 characters', '400'],
    ['page of a list', bytes(maxPageBytes), 'a short page with `next`'],
    ['rows that a page searches for your filters', n(maxScanned), 'a short page with `next`'],
    ['calls of `POST /ingest` per page of `/changes`', n(maxRows), 'a short page with `next`'],
    ['age of changes and of their cursors', time(keptMs), '400; read the lists again'],
    ['active API tokens of an account', n(maxApiTokens), '400; revoke one'],
    ['active ingest keys of a connection', n(maxIngestKeys), '400; ask us to revoke one'],
    ['`externalId` of a connection or vehicle', `${maxExternalId} characters`, '400'],
    ['name of a token', `${maxName} characters`, '400'],
    ['revoking a token if [lists may lag](/docs/lists#lists-that-may-lag)', time(allExpiredMs), ''],
  ],
  records: [
    ['records of a call', '500', '400'],
    ['body of `POST /ingest`', '1 MiB', '413'],
    [
      `simultaneous calls of more than ${fewRecords} records, per account`,
      `1, and ${maxLargeWaiting} waiting`,
      '429',
    ],
    ['times', 'from 1970 to 9999', 'rejected'],
    ['times in the future', time(maxClockLeadMs), 'rejected'],
    ['age of a safety event that notifies', '180 days', 'stored, nobody is notified'],
    ['`warnings` of a call', n(maxWarnings), 'left out'],
    ['`sourceId`, `name` of a driver', '200 characters', 'rejected'],
    ['`name` of a vehicle', bytes(maxNameBytes), 'rejected'],
    ['`vin` of a vehicle', bytes(maxVinBytes), 'rejected'],
    ['`groups` of a vehicle', list(groupLimits), 'rejected'],
    ['`incidentTypes` of an event', list(incidentTypeLimits), 'rejected'],
    ['`recipients` of an event', list(recipientLimits), 'rejected'],
    ['`address` of a location', `${maxAddressLength} characters`, 'rejected'],
    ['`reportUrl` of an accident', `${n(maxReportUrlLength)} characters`, 'rejected'],
    ['connections of an account', '1,000, 1 per credential', '400'],
    ['history that a connection loads', '365 days, 90 by default', '400'],
  ],
  webhooks: [
    ['webhooks of an account', n(maxWebhooks), '400'],
    ['connections of a webhook', n(webhooks.maxConnections), '400'],
    [
      'all webhooks of an account: URLs, headers, and 39 bytes per connection',
      `${maxWebhookBytes / 1e6} MB`,
      '400',
    ],
    ['`url`', `${n(maxUrlLength)} characters`, '400'],
    ['`headers`', '50, and 8 KiB as JSON', '400'],
    ['name of a header', '128 characters', '400'],
    ['`clientSecret` of `oauth`', '2,000 characters', '400'],
    ['token endpoint', '5 seconds, 16 KiB', 'the attempt has failed'],
  ],
  deliveries: [
    ['time to respond', `${policy.retries.timeoutSeconds} seconds`, 'the attempt has failed'],
    [
      'attempts',
      `${policy.retries.maxAttempts} of an event, ${policy.retries.maxAccidentAttempts} of an accident, over ${policy.retries.hours} hours`,
      'the delivery has failed; replay it',
    ],
    [
      'simultaneous calls to a webhook',
      `${policy.widestWindow}, ${policy.firstWindow} at first`,
      'the others wait',
    ],
    ['failures in a row', n(policy.circuitAfter), 'calls to your receiver are paused'],
    [
      'pause',
      `${time(policy.circuitFirstMs)} to ${time(policy.circuitLongestMs)}; ${time(policy.accidentRetryMs)} for accidents, ${policy.circuitAccidentOpenings} times`,
      'one delivery is tried',
    ],
    ['wait for a paused receiver', time(policy.giveUpAfterMs), 'the delivery has failed; replay it'],
    ['wait of an accident level for the previous one', time(policy.levelWaitMs), 'it is sent'],
    ['`Retry-After`', '2 times the regular wait', 'shortened'],
    ['deliveries replayed at a time', n(maxReplayedPerCall), 'replay the rest'],
    ['age of a delivery that can be replayed', '20 days', 'left out'],
    ['finished deliveries are kept', '30 days', 'deleted'],
    ['deleting a webhook', time(startWindowMs), 'no call starts after the response'],
  ],
  portal: [
    [
      'emails and channel messages',
      `${maxPerAccountAndDay} a day per account`,
      'see [Emails](/docs/portal#emails)',
    ],
    ['channels of an account', n(maxChannels), 'the form says so'],
    [
      '[exports](/docs/portal#exports) of an account',
      `${maxExportsPerDay} a day, ${n(maxExportRecords)} records each`,
      'choose fewer days for more records',
    ],
    ['a sign-in link works for', time(linkMs), 'request a new one'],
    ['a session lasts', time(sessionMs), 'sign in again'],
    ['connect links that are not used yet', '20, for 7 days each', 'revoke one'],
    [
      'tests, replays, invitations, new tokens, exports and their downloads',
      `${perMinute('ACTION_LIMIT')} per session`,
      '429',
    ],
  ],
};
