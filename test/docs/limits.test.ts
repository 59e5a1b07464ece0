import { env } from 'cloudflare:workers';
import { auditDays, maxAuditEntries } from '#src/core/accounts/audit/prune.ts';
import { deadTokenDays } from '#src/core/accounts/prune.ts';
import { maxConnectionsOfToken } from '#src/core/accounts/tokens/connections.ts';
import { maxApiTokens, maxIngestKeys } from '#src/core/accounts/tokens/service.ts';
import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import { maxEvidence } from '#src/core/fleet/lists/field-objects.ts';
import { maxExternalId } from '#src/core/fleet/lists/resource.ts';
import { keptMs } from '#src/core/fleet/record-changes.ts';
import { defaultQuotas } from '#src/core/ingest/quotas.ts';
import { largestBody as largestIngest } from '#src/core/ingest/routes.ts';
import { fewRecords } from '#src/core/ingest/service.ts';
import { maxWarnings } from '#src/core/ingest/warnings.ts';
import { internalSuffixes, maxUrlLength } from '#src/core/platform/address.ts';
import { config } from '#src/core/platform/config.ts';
import { maxPageBytes, maxScanned } from '#src/core/platform/db/pages.ts';
import { allLapsedMs } from '#src/core/platform/db/reads.ts';
import { dayMs, hourMs, minuteMs } from '#src/core/platform/durations.ts';
import { maxLargeWaiting } from '#src/core/platform/fair-queue.ts';
import { maxClockLeadMs, maxName } from '#src/core/platform/fields.ts';
import { maxSlice } from '#src/core/platform/http/requested-slice.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import * as policy from '#src/core/webhooks/deliveries/policy.ts';
import { startWindowMs } from '#src/core/webhooks/deliveries/policy.ts';
import { maxConnections, maxWebhooks, refusedHeaders } from '#src/core/webhooks/fields.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import { largestBody } from '#src/core/webhooks/routes.ts';
import { maxWebhookBytes } from '#src/core/webhooks/service.ts';
import guide from '#src/docs/guides/limits.md?raw';
import notes from '#src/docs/guides/operating/costs-and-limits.md?raw';
import webhooksGuide from '#src/docs/guides/webhooks.md?raw';
import { maxChannels } from '#src/extras/alerts/channel-input.ts';
import { maxPerAccountAndDay } from '#src/extras/alerts/sending.ts';
import { maxRows } from '#src/extras/changes/feed.ts';
import { problemDaysKept, problemsKept } from '#src/extras/connector-problems/problems.ts';
import { replayableMs } from '#src/extras/delivery-log/replayable.ts';
import { maxReplayedPerCall } from '#src/extras/delivery-log/schema.ts';
import { maxTestsOfHost, maxTestsOfReceiver } from '#src/extras/delivery-log/simulate.ts';
import { maxDayBytes, maxDayFiles, maxEver } from '#src/extras/evidence/add.ts';
import { maxAccidentBytes, maxFileBytes } from '#src/extras/evidence/copy-file.ts';
import { maxExportRecords, maxExportsPerDay } from '#src/extras/exports/exports.ts';
import { paramLimits } from '#src/extras/oauth/client.ts';
import { maxTokenBytes, tokenTimeoutMs } from '#src/extras/oauth/token-endpoint.ts';
import { usualHistoryDays } from '#src/extras/providers/connect.ts';
import { maxReplyBytes } from '#src/extras/providers/connector/call.ts';
import { maxKept, maxValues } from '#src/extras/providers/connector/pick.ts';
import { connectLinkMs, maxOpenLinks } from '#src/extras/providers/links.ts';
import { connectors } from '#src/extras/providers/registry.ts';
import { largestBody as largestCall } from '#src/extras/providers/routes.ts';
import { refusalsKept } from '#src/extras/providers/store.ts';
import { proof } from '#src/extras/single-sign-on/domain-checks.ts';
import { providerSessionMs } from '#src/extras/single-sign-on/save.ts';
import { maxDomains, maxNewcomers } from '#src/extras/single-sign-on/single-sign-on.ts';
import { maxNamed } from '#src/extras/summaries/read.ts';
import { maxPendingCounted } from '#src/operator/api/counted.ts';
import { graceDays } from '#src/operator/deletion/accept.ts';
import { maxAttempts } from '#src/people/http/session-cookie.ts';
import { maxInvitationsPerDay } from '#src/people/invitations.ts';
import { invitationMs, linkMs, sessionMs } from '#src/people/sessions.ts';
import { maxCsvRecords } from '#src/ui/lists/list.tsx';

/** The numbers of a text: `8 KiB` is 8192. */
function numbersIn(text = ''): number[] {
  const units: Record<string, number> = { KiB: 1024, MiB: 1024 * 1024 };
  return [...text.matchAll(/(\d[\d,.]*\d|\d)(?: (KiB|MiB))?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  );
}

/** The figures of the tables in a guide, by what they limit: a number, or several. */
const figuresIn = (guide: string) =>
  Object.fromEntries(
    [...guide.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, what = '', limit]) => {
      const [first, ...others] = numbersIn(limit);
      return [what, others.length > 0 ? [first, ...others] : first];
    }),
  );
const { calls } = rateLimits.ACTION_LIMIT;

/** Other limits are spelled out in schemas, and tested there. */
it('the guide has the limits that the service keeps to', () => {
  expect(figuresIn(guide)).toMatchObject({
    'requests per API token, ingest key or portal session': rateLimits.TOKEN_LIMIT.calls,
    'tests, replays, exports and their downloads per API token': [
      calls,
      rateLimits.ACCOUNT_ACTION_LIMIT.calls,
    ],
    'requests with invalid tokens per address': rateLimits.UNKNOWN_LIMIT.calls,
    '`GET /health` per address': rateLimits.HEALTH_LIMIT.calls,
    'request body': largestBody,
    'page of a list': maxPageBytes,
    'rows that a page searches for your filters': maxScanned,
    'calls of `POST /ingest` per page of `/changes`': maxRows,
    'age of changes and of their cursors': keptMs / dayMs,
    'active API tokens of an account': maxApiTokens,
    'connections of a limited token': maxConnectionsOfToken,
    'active ingest keys of a connection': maxIngestKeys,
    '`externalId` of a connection or vehicle': maxExternalId,
    'name of a token': maxName,
    'revoking a token if [lists may lag](/docs/lists#lists-that-may-lag)': allLapsedMs / 1000,
    'body of `POST /ingest`': largestIngest,
    'simultaneous calls of more than 50 records, per account': [1, maxLargeWaiting],
    'new records of an account a day (UTC)': defaultQuotas.records,
    'bytes of these, as JSON': defaultQuotas.bytes,
    'deliveries of these, counted for every webhook of their connection': defaultQuotas.deliveries,
    'times in the future': maxClockLeadMs / dayMs,
    'age of a safety event that notifies': newsMs / dayMs,
    '`warnings` of a call': maxWarnings,
    'history that a connection loads': [
      ...new Set(connectors.map(({ maxHistoryDays }) => maxHistoryDays)),
      usualHistoryDays,
    ],
    'webhooks of an account': maxWebhooks,
    'connections of a webhook': maxConnections,
    'all webhooks of an account: URLs, headers, and 39 bytes per connection; `allConnections` counts as 1,000':
      maxWebhookBytes / 1e6,
    '`url`': maxUrlLength,
    '`params` of `oauth`': Object.values(paramLimits),
    'tests of unsaved webhooks per account and host': [maxTestsOfHost, maxTestsOfReceiver],
    'token endpoint': [tokenTimeoutMs / 1000, maxTokenBytes],
    'time to respond': policy.retries.timeoutSeconds,
    attempts: [
      policy.retries.maxAttempts,
      policy.retries.maxAccidentAttempts,
      policy.retries.hours,
    ],
    'simultaneous calls to a webhook': [policy.widestWindow, policy.firstWindow],
    'failures in a row': policy.circuitAfter,
    pause: [
      policy.circuitFirstMs / 1000,
      policy.circuitLongestMs / minuteMs,
      policy.accidentRetryMs / 1000,
      policy.circuitAccidentOpenings,
    ],
    'wait for a paused receiver': policy.giveUpAfterMs / dayMs,
    'wait of an accident level for the previous one': policy.levelWaitMs / minuteMs,
    'deliveries replayed at a time': maxReplayedPerCall,
    'age of a delivery that can be replayed': replayableMs(env) / dayMs,
    'finished deliveries are kept': config(env).retentionMs / dayMs,
    'deleting a webhook': startWindowMs / 1000,
    'emails and channel messages': maxPerAccountAndDay,
    '[daily summaries](/docs/portal#emails)': [1, maxNamed],
    'channels of an account': maxChannels,
    '[evidence](/docs/portal#evidence) of an accident': [
      maxEvidence,
      maxFileBytes / 1e6,
      maxAccidentBytes / 1e9,
      maxEver,
    ],
    'evidence of an account in 24 hours': [maxDayFiles, maxDayBytes / 1e9],
    '[exports](/docs/portal#exports) of an account': [maxExportsPerDay, maxExportRecords],
    'a sign-in link works for': [linkMs / minuteMs, invitationMs / dayMs],
    'a session lasts': [sessionMs / dayMs, providerSessionMs / hourMs],
    'sign-ins at a provider': [rateLimits.SIGN_IN_LIMIT.calls, maxAttempts],
    'requests to sign in': rateLimits.LINK_REQUEST_LIMIT.calls,
    "a domain's record is missing": proof.expiresMs / (7 * dayMs),
    '[single sign-on](/docs/portal#single-sign-on) of an account': [maxDomains, maxNewcomers],
    'connect links that are not used yet': [maxOpenLinks, connectLinkMs / dayMs],
    'downloads, tests, replays, exports, invitations, and what is saved of webhooks, channels, connections, keys, tokens and sign-in':
      [calls, rateLimits.ACCOUNT_ACTION_LIMIT.calls],
  });
  expect(guide).toContain(`of more than ${fewRecords} records`);
});

it('the operating notes have the limits that the service keeps to', () => {
  const { What: _, ...figures } = figuresIn(notes.split('## Limits')[1] ?? '');
  expect(figures).toEqual({
    'items of a list': maxSlice,
    'deliveries listed at a time': 500,
    'pending deliveries that `fleet status` counts': maxPendingCounted,
    'requests with a wrong operator key per address': rateLimits.OPERATOR_LIMIT.calls,
    'calls at a time that a receiver can be limited to': [1, policy.widestWindow],
    'calls per second that a receiver can be limited to': [1, policy.maxCallsPerSecond],
    'revoked and expired tokens are kept': deadTokenDays,
    'the audit log is kept': [auditDays, maxAuditEntries],
    'a deleted account can be restored': graceDays,
    "a connection's own map of incident types": maxMapBytes,
    'invitations of an account': maxInvitationsPerDay,
    'response of a provider': [maxReplyBytes, maxKept, maxValues],
    "body of a provider's webhook": largestCall,
    'rejected records kept per connection that pulls, and records accepted with warnings':
      refusalsKept,
    'different rejections kept per connection of a connector, and different warnings': [
      problemsKept,
      problemDaysKept,
    ],
    'records of a CSV file of the portal': maxCsvRecords,
  });
});

it('the guide names what a webhook is refused for', () => {
  const codeIn = (start: string, end: string) =>
    [...(webhooksGuide.split(start)[1]?.split(end)[0] ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, code = '']) => code,
    );
  expect(codeIn('or end in', 'before each call').sort()).toEqual([...internalSuffixes].sort());
  const prefixes = codeIn('names that begin with', 'Values are').map((prefix) => `${prefix}.*`);
  const names = [...codeIn('They cannot set', 'or names'), ...prefixes];
  const refused = refusedHeaders.source.slice('^(?:'.length, -')$'.length).split('|');
  expect(names.map((name) => name.toLowerCase()).sort()).toEqual(refused.sort());
});
