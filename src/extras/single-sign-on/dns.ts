import { config } from '../../core/platform/config.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { parsedJson } from '../../core/platform/json.ts';
import { beginningOf } from '../../core/webhooks/deliveries/send/call-once.ts';
import { domainsToCheck, noteChecks } from './domain-checks.ts';

/** The TXT record by which the owner of a domain names the account that it belongs to. */
export const recordName = (domain: string): string => `_fleet-data-service.${domain}`;
export const recordFor = (accountId: string): string => `account=${accountId}`;

const timeoutMs = 5_000;
const maxBytes = 64 * 1024;

/** The texts that a domain has for us, by DNS over HTTPS; undefined if DNS does not respond. */
export async function textsAt(env: Env, domain: string): Promise<string[] | undefined> {
  const query = new URLSearchParams({ name: recordName(domain), type: 'TXT' });
  const init = {
    headers: { Accept: 'application/dns-json' },
    signal: AbortSignal.timeout(timeoutMs),
  };
  const response = await fetch(`${config(env).dnsUrl}?${query}`, init).catch(() => undefined);
  const reply = Object(
    response?.ok && parsedJson(await beginningOf(response, maxBytes, timeoutMs)),
  );
  if (reply.Status !== noError && reply.Status !== noSuchName) return undefined;
  const records: unknown[] = Array.isArray(reply.Answer) ? reply.Answer : [];
  // A text is in quotes, in several parts if it is long.
  return records
    .map((record) => Object(record))
    .filter(({ type, data }) => type === txt && typeof data === 'string')
    .map(({ data }) => data.replaceAll(/^"|"\s*"|"$/g, ''));
}

/** Codes of DNS. */
const [noError, noSuchName, txt] = [0, 3, 16];

/** How many domains are checked at a time. */
const perStep = 20;

/** Asks the DNS of proven domains again whether they name their account. */
export async function checkDomains(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  await inSteps(budget, async () => {
    const due = await domainsToCheck(env, now, perStep);
    const checks = due.map(async (one) => {
      const texts = await textsAt(env, one.domain);
      return { ...one, isFound: texts?.includes(recordFor(one.accountId)) === true };
    });
    await noteChecks(env, await Promise.all(checks), now);
    return due.length === perStep;
  });
}
