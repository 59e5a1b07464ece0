// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is broken has these.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** A rule of the core, broken: `from` becomes `to` in a file of `src`. The tests of `test` must notice. */
export type Mutant = { file: string; from: string; to: string; test: string };

const root = fileURLToPath(new URL('../..', import.meta.url));

const breaking = (file: string, test: string, ...changes: [from: string, to: string][]): Mutant[] =>
  changes.map(([from, to]) => ({ file: `src/${file}`, from, to, test: `test/${test}.test.ts` }));

/** Rules about credentials, claims, leases, outcomes, cursors, filters and bounds, each with the tests that are about it. */
export const mutants: Mutant[] = [
  ...breaking(
    'accounts/tokens/authenticate.ts',
    'accounts/tokens/credentials',
    ['if (!isScope ||', 'if ('],
    ['if (!ours) await limitByAddress', 'if (ours) await limitByAddress'],
  ),
  ...breaking('accounts/tokens/service.ts', 'accounts/tokens/credentials', [
    'await Promise.all([forgetTokens(env, [row.hash]), expired])',
    'await expired',
  ]),
  ...breaking(
    'platform/db/guard.ts',
    'accounts/tokens/credentials',
    ['and revoked_at is null', ''],
    ['and connection_id is ${caller.connectionId ?? null}', ''],
    ['and read_only = ${Number(caller.readOnly ?? false)}', ''],
    ['and connection_ids is ${caller.connectionIds ? JSON.stringify(caller.connectionIds) : null}', ''],
    ["when a.status = 'suspended' then", "when a.status = 'none' then"],
  ),
  ...breaking('platform/db/guard.ts', 'accounts/tokens/limited', [
    "'tokenId' in caller ? caller.connectionIds",
    "'none' in caller ? caller.connectionIds",
  ]),
  ...breaking('platform/db/guard.ts', 'fleet/lists', [
    'id = ${connectionId} and account_id = ${caller.accountId}`',
    'id = ${connectionId}`',
  ]),
  ...breaking('platform/db/guard.ts', 'portal/session/rights', [
    'when c.role not in ${jsonList(enough)}',
    "when c.role = 'none' and c.role not in ${jsonList(enough)}",
  ]),
  ...breaking('platform/db/cursor.ts', 'fleet/pages', [
    'encodeCursor(keys, list, bookmark) === cursor ? keys',
    'keys.length > 0 ? keys',
  ]),
  ...breaking('platform/db/pages.ts', 'fleet/lists', [
    '(${sort}, ${id}) ${beyond(descending)} (${after.sort}, ${after.id})',
    '${sort} ${beyond(descending)} ${after.sort}',
  ]),
  ...breaking('platform/db/pages.ts', 'fleet/pages', [
    'export const maxScanned = 1000',
    'export const maxScanned = 100_000',
  ]),
  ...breaking('platform/jobs/lease.ts', 'platform/jobs/jobs', [
    'where leased_until <= ${now} or holder',
    'where leased_until >= 0 or holder',
  ]),
  ...breaking('platform/http/body.ts', 'platform/http/requests', [
    'if (size > limit) return undefined',
    'if (size > 100 * limit) return undefined',
  ]),
  ...breaking('platform/jobs/jobs.ts', 'platform/jobs/jobs', [
    "fault('error', { message: 'A job failed', job, ...described(error) })",
    'throw error',
  ]),
  ...breaking(
    'webhooks/deliveries/policy.ts',
    'webhooks/deliveries/policy',
    ["if (outcome.result === 'status' && outcome.status === 410)", "if (outcome.result === 'redirect')"],
    ['scheduleOf(type)[attempts - 1]', 'scheduleOf(type)[attempts]'],
    ['Math.min(asked, 2 * wait)', 'asked'],
    ['0.8 + 0.4 * random', '1'],
    ['status === 429 || status === 503', 'status === 503'],
    ['type === ACCIDENT ? 0 : eventRisk === 5', 'eventRisk === 5'],
    ['if (maxPerSecond === null) return 0', 'if (maxPerSecond !== null) return 0'],
  ),
  ...breaking('webhooks/deliveries/send/claim.ts', 'webhooks/deliveries/send/record', [
    "accidentsOnly ? 'accidents' : 'all'",
    "'all'",
  ]),
  ...breaking('webhooks/deliveries/send/claim.ts', 'webhooks/deliveries/receiver/window', [
    'limit ${ofReceiver(webhookId, windowOf(now))}',
    'limit 50',
  ]),
  ...breaking('webhooks/deliveries/send/claim.ts', 'webhooks/deliveries/receiver/window', [
    '${limited ? ofReceiver(webhookId, callsLeft(now, count)) : count}',
    '${count}',
  ]),
  ...breaking('webhooks/deliveries/send/record.ts', 'webhooks/deliveries/send/record', [
    "status = 'pending' and claimed_until = r.value->>'claimedUntil'",
    "status = 'pending'",
  ]),
  ...breaking('webhooks/deliveries/send/record.ts', 'webhooks/deliveries/deliveries', [
    "json_remove(json_insert(log, '$[#]', json(r.value->>'attempt')), '$[1]')",
    'log',
  ]),
  ...breaking('webhooks/deliveries/send/attempt.ts', 'webhooks/oauth.clock', [
    'if (Date.now() > call.startBy) return undefined',
    '',
  ]),
  ...breaking('webhooks/deliveries/send/attempt.ts', 'webhooks/deliveries/deliveries', [
    'if (receiverProblem(url, { allowLoopback }))',
    'if (!url)',
  ]),
  ...breaking('webhooks/deliveries/receiver/circuit.ts', 'webhooks/deliveries/receiver/recovery', [
    "failures >= policy.circuitAfter ? 'open' : 'failing'",
    "'failing'",
  ]),
  ...breaking('webhooks/deliveries/sweep.ts', 'operator/health/health', [
    'head->>0 <= ${now} and not',
    'not',
  ]),
  ...breaking(
    'webhooks/notifications/pass.ts',
    'webhooks/filters',
    [">= coalesce(f.filters->>'minEventRisk', 0)", '>= 0'],
    ["overlap(filter('accidentLevels')", 'overlap(sql`null`'],
    ["and ${overlap(filter('groupKeys'), groupKeysOfVehicle)} and", 'and'],
  ),
  ...breaking('webhooks/notifications/insert.ts', 'ingest/service', [
    "and exists (select 1 from vehicles where id = n.value->>'vehicleId')",
    '',
  ]),
  ...breaking(
    'platform/address.ts',
    'platform/address',
    ["if (parsed.username || parsed.password) return 'has credentials'", ''],
    ["if (isAddress(host)) return 'ip address'", ''],
    ['internalSuffixes.some((suffix) => `.${host}`.endsWith(suffix))', 'internalSuffixes.includes(host)'],
    ['if (policy.allowLoopback && isLoopback(host))', 'if (isLoopback(host))'],
  ),
  ...breaking('ingest/quotas.ts', 'ingest/quotas.clock', ['hasAccident ? accidentTimes : 1', '1']),
  ...breaking('fleet/record-changes.ts', 'fleet/changes/feed', [
    '1 + coalesce((select max(seq)',
    '0 * coalesce((select max(seq)',
  ]),
];

/** How a run with a mutant is told which one. */
const variable = 'MUTANT';

/** Breaks the rule that the run is told of, if any, in what tests load. The files stay as they are. */
export const mutate = (): Plugin => ({
  name: 'mutate',
  enforce: 'pre',
  transform(code, id) {
    const mutant = mutants[Number(process.env[variable] ?? Number.NaN)];
    return mutant && id.split('?')[0] === root + mutant.file
      ? code.replace(mutant.from, () => mutant.to)
      : undefined;
  },
});

/** How often a mutant's text occurs: once, or it breaks nothing. */
export const occurrences = ({ file, from }: Mutant): number =>
  readFileSync(root + file, 'utf8').split(from).length - 1;

/** Tests that wait for what never comes have noticed. */
const longestMs = 120_000;

/** Runs the tests of a mutant. Returns whether they notice: some fail, and others are still run. */
export function isNoticed(mutant: Mutant): boolean {
  const { stdout } = spawnSync(
    'vitest',
    // Without the cache, which knows modules by their files.
    [...'run --config test/vitest.config.ts --experimental.fsModuleCache=false'.split(' '), mutant.test],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: longestMs,
      env: { ...process.env, [variable]: String(mutants.indexOf(mutant)) },
    },
  );
  const [, failed] = /^\d+ passed, (\d+) failed/m.exec(stdout) ?? [];
  return Number(failed) > 0 && /AssertionError|×/.test(stdout);
}
