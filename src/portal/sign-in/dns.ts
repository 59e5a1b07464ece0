import { config } from '../../platform/config.ts';
import { parsedJson } from '../../providers/read.ts';
import { beginningOf } from '../../webhooks/deliveries/send/call-once.ts';

/** The TXT record by which the owner of a domain names the account that it belongs to. */
export const recordName = (domain: string): string => `_fleet-data-service.${domain}`;
export const recordFor = (accountId: string): string => `account=${accountId}`;

const timeoutMs = 5_000;
const maxBytes = 64 * 1024;

/** Whether a domain has the account's record, by DNS over HTTPS; false if DNS does not respond. */
export async function hasRecord(env: Env, domain: string, accountId: string): Promise<boolean> {
  const query = new URLSearchParams({ name: recordName(domain), type: 'TXT' });
  const headers = { Accept: 'application/dns-json' };
  const text = await fetch(`${config(env).dnsUrl}?${query}`, {
    headers,
    signal: AbortSignal.timeout(timeoutMs),
  }).then(
    (response) => beginningOf(response, maxBytes, timeoutMs),
    () => '',
  );
  const { Answer = [] }: { Answer?: { data: string }[] } = Object(parsedJson(text));
  // A text is in quotes, in several parts if it is long.
  return Answer.some(({ data }) => data.replaceAll(/^"|"\s*"|"$/g, '') === recordFor(accountId));
}
