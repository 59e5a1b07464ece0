import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { auditDays, maxAuditEntries } from '../../src/accounts/audit/prune.ts';
import * as invitations from '../../src/accounts/invitations.ts';
import { deadTokenDays } from '../../src/accounts/prune.ts';
import { linkMs, maxLinks, sessionMs } from '../../src/accounts/sessions.ts';
import { maxApiTokens, maxIngestKeys } from '../../src/accounts/tokens/service.ts';
import page from '../../src/docs/guides/limits.md?raw';
import { maxVehicles } from '../../src/fleet/accidents/notified.ts';
import { maxRows } from '../../src/fleet/changes/feed.ts';
import { keptMs } from '../../src/fleet/changes/prune.ts';
import * as inConnections from '../../src/fleet/connection-activity.ts';
import { maxConnectionsListed } from '../../src/fleet/connections.ts';
import { maxReportUrlLength } from '../../src/fleet/lists/accidents.ts';
import { maxAddressLength } from '../../src/fleet/lists/field-types.ts';
import { incidentTypeLimits, recipientLimits } from '../../src/fleet/lists/safety-events.ts';
import { groupLimits, maxNameBytes, maxVinBytes } from '../../src/fleet/lists/vehicles.ts';
import { maxMatches } from '../../src/fleet/names.ts';
import * as trends from '../../src/fleet/trends/recount.ts';
import { eventsLookedAt } from '../../src/fleet/unmapped-words.ts';
import { largestBody as largestIngest } from '../../src/ingest/routes.ts';
import { fewRecords } from '../../src/ingest/service.ts';
import { maxWarnings } from '../../src/ingest/warnings.ts';
import {
  maxAccountsCounted,
  maxFailedCounted,
  maxListed,
  maxPendingCounted,
} from '../../src/operator/api/counted.ts';
import { graceDays } from '../../src/operator/deletion/accept.ts';
import { maxDeletionsListed } from '../../src/operator/deletion/state.ts';
import { config } from '../../src/platform/config.ts';
import { maxPageBytes, maxScanned } from '../../src/platform/db/pages.ts';
import { allExpiredMs } from '../../src/platform/db/token-cache.ts';
import { maxLargeWaiting } from '../../src/platform/fair-queue.ts';
import { maxClockLeadMs, maxName } from '../../src/platform/fields.ts';
import { maxSlice } from '../../src/platform/http/slices.ts';
import { rateLimits } from '../../src/platform/rate-limits.ts';
import { pageSize } from '../../src/portal/connections/connections.tsx';
import { maxWords } from '../../src/portal/connections/pull.tsx';
import { aroundMs, maxAround } from '../../src/portal/events/around.tsx';
import { maxFormBytes } from '../../src/portal/routes.ts';
import * as attention from '../../src/portal/session/attention.ts';
import { maxCsvRecords } from '../../src/portal/ui/csv.ts';
import { shownDays } from '../../src/portal/webhooks/charts.tsx';
import { maxReplyBytes, maxValues } from '../../src/providers/call.ts';
import { usualHistoryDays } from '../../src/providers/connect.ts';
import { maxCredential } from '../../src/providers/connector.ts';
import { draftMs } from '../../src/providers/draft.ts';
import * as health from '../../src/providers/health-alerts.ts';
import { connectors } from '../../src/providers/registry.ts';
import { largestBody as largestCall } from '../../src/providers/routes.ts';
import { windowMs } from '../../src/providers/signature.ts';
import { refusalsKept } from '../../src/providers/store.ts';
import { quietMs as triggerQuietMs } from '../../src/providers/trigger.ts';
import { internalSuffixes, lowestPort } from '../../src/webhooks/address.ts';
import { maxPerAccountAndDay } from '../../src/webhooks/alerts/mails.ts';
import * as alerts from '../../src/webhooks/alerts/policy.ts';
import { maxPeople, maxWaitingCounted } from '../../src/webhooks/alerts/report.ts';
import { maxNamed } from '../../src/webhooks/alerts/send.ts';
import { maxLookedAt } from '../../src/webhooks/alerts/state.ts';
import * as attempts from '../../src/webhooks/deliveries/attempt.ts';
import { maxFound } from '../../src/webhooks/deliveries/browse.ts';
import { startWindowMs } from '../../src/webhooks/deliveries/claim.ts';
import { maxOfEvent } from '../../src/webhooks/deliveries/of-event.ts';
import * as policy from '../../src/webhooks/deliveries/policy.ts';
import { maxKeptAttempts } from '../../src/webhooks/deliveries/record.ts';
import { maxReplayedPerCall } from '../../src/webhooks/deliveries/replay.ts';
import { replayableMs } from '../../src/webhooks/deliveries/replayable.ts';
import * as webhookFields from '../../src/webhooks/fields.ts';
import { largestBody } from '../../src/webhooks/routes.ts';
import * as webhooks from '../../src/webhooks/schema.ts';
import { maxWebhookBytes, maxWebhooks } from '../../src/webhooks/service.ts';
import { maxTestsOfHost } from '../../src/webhooks/simulate.ts';

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const calls = (limiter: keyof typeof rateLimits) => [rateLimits[limiter].calls];

/**
 * The figures of each row of the page, sizes in bytes. What enforces each is tested with its feature, as are those that
 * stand here as numbers, which schemas spell out.
 */
const figures: Record<string, number[]> = {
  'calls with one API token, ingest key or portal session': calls('TOKEN_LIMIT'),
  'calls with tokens that we do not recognise, from one address': calls('UNKNOWN_LIMIT'),
  '`GET /health` from one address': calls('HEALTH_LIMIT'),
  'body of a request': [largestBody],
  'errors that a reply names': [20],
  '`limit` of a list': [50, 500],
  'values of `vehicleIds`, `driverIds` and `eventTypes`': [100],
  'any other text parameter of a list': [1000],
  'page of a list': [maxPageBytes],
  'rows that a page looks through for your filters': [maxScanned],
  'calls of `POST /ingest` that a page of `/changes` covers': [maxRows],
  'time that changes are kept, and age of a cursor of `/changes`': [keptMs / day],

  'active API tokens of an account': [maxApiTokens],
  'active ingest keys of a connection': [maxIngestKeys],
  'time that revoking a token takes longer where [lists may lag](/docs/pagination#lists-that-may-lag)': [
    allExpiredMs,
  ],
  'name of a token': [maxName],

  'records of a call': [500],
  'body of `POST /ingest`': [largestIngest],
  'calls of more than so many records that an account has taken in at a time': [
    fewRecords,
    1,
    maxLargeWaiting,
  ],
  'times, here and in the filters of lists': [1970, 9999],
  'age of a safety event that is notified': [config(env).hotDays],
  '`sourceUpdatedAt`, and when a record happened': [maxClockLeadMs / day],
  'different `warnings` of a call': [maxWarnings],
  '`sourceId`': [200],
  '`name` of a vehicle': [maxNameBytes],
  '`vin` of a vehicle': [maxVinBytes],
  '`groups` of a vehicle': listLimits(groupLimits),
  '`incidentTypes` of an event': listLimits(incidentTypeLimits),
  '`recipients` of an event': listLimits(recipientLimits),
  '`address` of a location': [maxAddressLength],
  '`name` of a driver': [200],
  '`reportUrl` of an accident': [maxReportUrlLength],
  'vehicles with the VIN of an accident, in all accounts, among which yours is looked for': [maxVehicles],

  'connections of an account': [1000],
  'connections of an account with one credential': [1],
  'days of history that a connection loads': [
    usualHistoryDays,
    ...new Set(connectors.map(({ maxHistoryDays }) => maxHistoryDays)),
  ],
  'what a provider may answer with': [maxReplyBytes, maxValues],
  "age of a call of a provider's webhook, by its own time": [windowMs / minute],
  "body of a provider's webhook": [largestCall],
  "pulls that a provider's webhook can ask for": [1, triggerQuietMs / second],
  'time that a connection is late or degraded before we email': [health.notifyAfterMs / minute],
  'emails about a connection': [hour / health.quietMs],
  'emails about webhooks, connections, accidents and safety events': [maxPerAccountAndDay],

  'webhooks of an account': [maxWebhooks],
  'connections of a webhook': [webhookFields.maxConnections],
  'webhooks of an account in all: urls, headers, and 39 bytes for each connection of each': [
    maxWebhookBytes / 1e6,
  ],
  '`url`': [webhookFields.maxUrlLength],
  'port of `url`': [443, lowestPort],
  '`headers`': [50],
  '`headers` in all, as JSON': [8192],
  'name of a header': [128],

  'time for your receiver to answer': [policy.retries.timeoutSeconds],
  'what we read of its answer, for the log': [attempts.maxReadMs / second, attempts.maxReadBytes],
  'what we show of its answer': [attempts.maxKeptBytes],
  'calls to a webhook in flight': [policy.firstWindow, policy.widestWindow, policy.inTimeMs / second],
  'time that a level of an accident waits for the one before it': [policy.levelPatienceMs / second],
  'attempts of a delivery': [
    policy.retries.maxAttempts,
    policy.retries.maxAccidentAttempts,
    policy.retries.hours,
  ],
  'attempts that the log of a delivery shows': [maxKeptAttempts - 1],
  '`Retry-After` that we honour': [2],
  'attempts that may fail in a row': [policy.circuitAfter],
  'pause of a receiver that keeps failing': [
    policy.circuitFirstMs / second,
    policy.circuitLongestMs / minute,
    policy.accidentRetryMs / second,
    policy.circuitAccidentOpenings,
  ],
  'time that a delivery waits for a paused receiver': [policy.giveUpAfterMs / day],
  'deliveries replayed at a time': [maxReplayedPerCall],
  'deliveries that a replay counts first': [policy.maxReplayCounted],
  'age of a delivery that can be replayed': [replayableMs(env) / day],
  'time that deleting a webhook takes': [startWindowMs / second],
  'time that finished deliveries are kept': [config(env).retentionMs / day],

  'time that a receiver is paused before we email': [alerts.pausedAfterMs / minute],
  'emails of a kind about a webhook': [hour / alerts.quietMs],
  'people of an account who are emailed': [maxPeople],
  'webhooks that an email names': [maxNamed],
  'waiting deliveries that an email counts': [maxWaitingCounted],
  'webhooks whose changes are noticed in a minute': [maxLookedAt],

  'tests of webhooks that are not saved, of one host from all accounts': [maxTestsOfHost],
  'tests, replays, invitations and new tokens of a session': calls('ACTION_LIMIT'),
  'tests, replays, invitations and new tokens of an account': calls('ACCOUNT_ACTION_LIMIT'),
  'invitations of an account': [invitations.maxInvitationsPerDay],
  'emails that invite one address, whoever sends them': [hour / invitations.quietMs],
  'time that an unused invitation is kept': [invitations.pendingMs / day],
  'asking for sign-in links from one address': calls('LINK_REQUEST_LIMIT'),
  'sign-in links for one email address': calls('SIGN_IN_LIMIT'),
  'accounts that an email invites to at a time': [maxLinks],
  'time that a sign-in link works': [linkMs / minute],
  'tries to use a sign-in link': calls('LINK_LIMIT'),
  'time that a session lasts': [sessionMs / day],
  'what a form sends': [maxFormBytes],
  'email address of a person': [320],
  'connections that the portal lists': [maxConnectionsListed],
  'time between testing the credential of a new connection and adding it': [draftMs / minute],
  'credential of a provider': [maxCredential],
  'refused records of a connection that are kept': [refusalsKept],
  'words without an incident type on the page of a connection': [maxWords],
  'events of a connection that are looked through for such words': [eventsLookedAt],
  'time that the charts of a webhook go back': [shownDays],
  'name of a webhook': [webhooks.maxWebhookName],
  'description of a webhook': [webhooks.maxWebhookDescription],
  'deliveries that a search finds': [maxFound],
  'open accidents, connections and webhooks with problems that the menu counts, of each': [
    attention.maxCounted - 1,
  ],
  'webhooks that are looked through for problems': [attention.maxWebhooks],
  'safety events of a connection in an hour that the overview counts': [trends.maxPerHour],
  'vehicles, and drivers, whose events the overview counts in a day': [trends.maxNamed],
  'connections on a page of the portal': [pageSize],
  'vehicles, and events of a day, counted for each connection in the list': [inConnections.maxCountedInList],
  'records of a kind counted for a connection on its page': [inConnections.maxCounted],
  'events, or accidents, of a CSV file': [maxCsvRecords],
  'vehicles, and drivers, that a filter by name matches': [maxMatches],
  'deliveries on the page of an event or accident': [maxOfEvent],
  'events of a vehicle around one of its own or an accident': [maxAround, (2 * aroundMs) / hour],

  'calls with a wrong key from one address': calls('OPERATOR_LIMIT'),
  'name of an account or a connection': [maxName],
  'name of a provider': [40],
  'items of a list': [maxSlice],
  'deliveries listed at a time': [500],
  'pending deliveries that the status counts': [maxPendingCounted],
  'accounts of a home that the list of homes counts': [maxAccountsCounted],
  'failing webhooks that the status names': [maxListed],
  'paused webhooks that the status names': [maxListed],
  'failed deliveries that the status counts of a webhook': [maxFailedCounted],
  'calls at a time that a receiver can be limited to': [1, policy.widestWindow],
  'calls a second that a receiver can be limited to': [1, policy.maxCallsPerSecond],
  'time that revoked and expired tokens are kept': [deadTokenDays],
  'time that entries of the audit log are kept': [auditDays],
  'entries of the audit log that an account keeps': [maxAuditEntries],
  'time that a deleted account can be brought back': [graceDays],
  'deletions listed': [maxDeletionsListed],
};

it('each row of the page says what the service does', () => {
  const ofPage = [...page.matchAll(/^\| (.+?) \| (.+?) \|/gm)]
    .filter(([, what]) => what !== 'What')
    .map(([, what = '', limit = '']) => [what, numbersIn(limit).slice(0, figures[what]?.length)]);
  expect(Object.fromEntries(ofPage)).toEqual(figures);
});

it('the page names what a webhook is refused for', () => {
  const codeIn = (start: string, end: string) =>
    [...(page.split(start)[1]?.split(end)[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  expect(codeIn('names\nthat end in', 'The same holds').sort()).toEqual([...internalSuffixes].sort());
  const prefixes = codeIn('every name that begins with', 'Values are').map((prefix) => `${prefix}.*`);
  const names = [...codeIn('cannot set what the delivery sets itself:', 'and every name'), ...prefixes];
  const refused = webhookFields.refusedHeaders.source.slice('^(?:'.length, -')$'.length).split('|');
  expect(names.map((name) => name.toLowerCase()).sort()).toEqual(refused.sort());
});

function listLimits({ max, length, bytes }: { max: number; length: number; bytes: number }): number[] {
  return [max, length, bytes];
}

/** The numbers of a cell: `8 KiB` is 8192. */
function numbersIn(cell: string): number[] {
  const units: Record<string, number> = { KiB: 1024, MiB: 1024 * 1024 };
  return [...cell.matchAll(/(\d[\d,]*)(?: (KiB|MiB))?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  );
}
