import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { auditDays, maxAuditEntries } from '../../src/accounts/audit/prune.ts';
import { maxInvitationsPerDay } from '../../src/accounts/people.ts';
import { deadTokenDays } from '../../src/accounts/prune.ts';
import notes from '../../src/docs/guides/operating/costs-and-limits.md?raw';
import webhooksGuide from '../../src/docs/guides/webhooks.md?raw';
import { limits } from '../../src/docs/openapi/limits.ts';
import { largestBody as largestIngest } from '../../src/ingest/routes.ts';
import { maxPendingCounted } from '../../src/operator/api/counted.ts';
import { graceDays } from '../../src/operator/deletion/accept.ts';
import { config } from '../../src/platform/config.ts';
import { maxSlice } from '../../src/platform/http/slices.ts';
import { rateLimits } from '../../src/platform/rate-limits.ts';
import { maxCsvRecords } from '../../src/portal/ui/csv.ts';
import { maxReplyBytes, maxValues } from '../../src/providers/call.ts';
import { usualHistoryDays } from '../../src/providers/connect.ts';
import { connectLinkMs, maxOpenLinks } from '../../src/providers/links.ts';
import { connectors } from '../../src/providers/registry.ts';
import { largestBody as largestCall } from '../../src/providers/routes.ts';
import { refusalsKept } from '../../src/providers/store.ts';
import { internalSuffixes } from '../../src/webhooks/address.ts';
import { maxTokenBytes, tokenTimeoutMs } from '../../src/webhooks/deliveries/access-token.ts';
import * as policy from '../../src/webhooks/deliveries/policy.ts';
import { replayableMs } from '../../src/webhooks/deliveries/replay.ts';
import { refusedHeaders } from '../../src/webhooks/fields.ts';
import { largestBody } from '../../src/webhooks/routes.ts';

const day = 86_400_000;

/** The numbers of a text: `8 KiB` is 8192. */
function numbersIn(text = ''): number[] {
  const units: Record<string, number> = { KiB: 1024, MiB: 1024 * 1024 };
  return [...text.matchAll(/(\d[\d,]*)(?: (KiB|MiB))?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  );
}

/** Those that only the Worker knows; others are taken from the constants, or spelled out in schemas and tested there. */
it.each([
  ['api', 'request body', [largestBody]],
  ['records', 'body of `POST /ingest`', [largestIngest]],
  ['records', 'age of a safety event that notifies', [config(env).hotDays]],
  [
    'records',
    'history that a connection loads',
    [...new Set(connectors.map(({ maxHistoryDays }) => maxHistoryDays)), usualHistoryDays],
  ],
  ['portal', 'connect links that are not used yet', [maxOpenLinks, connectLinkMs / day]],
  ['webhooks', 'token endpoint', [tokenTimeoutMs / 1000, maxTokenBytes]],
  ['deliveries', 'age of a delivery that can be replayed', [replayableMs(env) / day]],
  ['deliveries', 'finished deliveries are kept', [config(env).retentionMs / day]],
])('the limits of %s have the %s that the service keeps to', (section, what, figures) => {
  const row = limits[section]?.find(([name]) => name === what);
  expect(numbersIn(row?.[1])).toEqual(figures);
});

it('the operating notes have the limits that the service keeps to', () => {
  const rows = [...(notes.split('## Limits')[1] ?? '').matchAll(/^\| (.+?) \| (.+?) \|/gm)];
  expect(Object.fromEntries(rows.slice(1).map(([, what, limit]) => [what, numbersIn(limit)]))).toEqual({
    'items of a list': [maxSlice],
    'deliveries listed at a time': [500],
    'pending deliveries that `fleet status` counts': [maxPendingCounted],
    'requests with a wrong operator key per address': [rateLimits.OPERATOR_LIMIT.calls],
    'calls at a time that a receiver can be limited to': [1, policy.widestWindow],
    'calls per second that a receiver can be limited to': [1, policy.maxCallsPerSecond],
    'revoked and expired tokens are kept': [deadTokenDays],
    'the audit log is kept': [auditDays, maxAuditEntries],
    'a deleted account can be restored': [graceDays],
    'invitations of an account': [maxInvitationsPerDay],
    'response of a provider': [maxReplyBytes, maxValues],
    "body of a provider's webhook": [largestCall],
    'rejected records kept per connection': [refusalsKept],
    'records of a CSV file of the portal': [maxCsvRecords],
  });
});

it('the guide names what a webhook is refused for', () => {
  const codeIn = (start: string, end: string) =>
    [...(webhooksGuide.split(start)[1]?.split(end)[0] ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, code = '']) => code,
    );
  expect(codeIn('those that end in', 'before each call').sort()).toEqual([...internalSuffixes].sort());
  const prefixes = codeIn('names that begin with', 'Values are').map((prefix) => `${prefix}.*`);
  const names = [...codeIn('They cannot set', 'or names'), ...prefixes];
  const refused = refusedHeaders.source.slice('^(?:'.length, -')$'.length).split('|');
  expect(names.map((name) => name.toLowerCase()).sort()).toEqual(refused.sort());
});
