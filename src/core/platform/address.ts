import { isPrintable } from './fields.ts';

export type ReceiverProblem =
  | 'not https'
  | 'ip address'
  | 'not public'
  | 'has credentials'
  | 'reserved port';

const refusedBecause = (field: string, short = field) => ({
  message: `Invalid URL, ${short}`,
  field,
});

/** How a url is refused, in the words that the contract fixes. */
export const urlProblems: Record<ReceiverProblem, { message: string; field: string }> = {
  'not https': refusedBecause('must be an absolute https URL', "must use 'https'"),
  'ip address': refusedBecause('must use a host name instead of an IP address'),
  'not public': refusedBecause(
    'must not be a private, local or reserved name, nor this service itself',
    'must be a public address',
  ),
  'has credentials': refusedBecause(
    'must not contain a user name or password',
    'must not contain credentials',
  ),
  'reserved port': refusedBecause('must use port 443 or one from 1024 up'),
};

export const maxUrlLength = 2048;

/** Whether every character of a URL is visible, so that it is what it looks like. */
export function isVisible(url: string): boolean {
  return isPrintable(url) && !/[\s\p{Cf}]/u.test(url);
}
export const mustBeVisible =
  'must not contain white space, control characters or others that cannot be seen';

/** The service's own host, which must not call itself, and whether this machine may be called. */
export type ReceiverPolicy = { ownHost?: string | undefined; allowLoopback: boolean };

/** Reserved names, and those of private networks, which are never public. */
export const internalSuffixes = (
  '.local .internal .localhost .localdomain .home.arpa .lan .corp .home .intranet ' +
  '.private .test .invalid .onion .example .svc'
).split(' ');

/** Ports below this, except 443, belong to other services, such as SSH and mail. */
const lowestPort = 1024;

/** Why `url` cannot receive deliveries, or undefined. Workers cannot pin addresses: names are checked. */
export function receiverProblem(url: string, policy: ReceiverPolicy): ReceiverProblem | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:') return 'not https';
  if (parsed.username || parsed.password) return 'has credentials';
  // The URL parser has normalised IPv4 to dotted decimals, IPv6 to brackets, and names to lower case.
  const host = withoutDots(parsed.hostname);
  if (policy.allowLoopback && isLoopback(host)) return undefined;
  if (isAddress(host)) return 'ip address'; // Cloudflare refuses to call them: error 1003
  if (!isPublic(host, policy.ownHost)) return 'not public';
  return parsed.port !== '' && Number(parsed.port) < lowestPort ? 'reserved port' : undefined;
}

/** A URL for comparison: without fragment, and without a dot behind the host. */
export function normalisedUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  parsed.hostname = withoutDots(parsed.hostname);
  return parsed.href;
}

function isPublic(host: string, ownHost: string | undefined): boolean {
  if (ownHost !== undefined && host === withoutDots(ownHost)) return false;
  return dnsName.test(host) && !internalSuffixes.some((suffix) => `.${host}`.endsWith(suffix));
}

/** URLs may have other hosts, such as `*.example.com`, which nobody can look up. */
const dnsName = /^[\w-]{1,63}(?:\.[\w-]{1,63})+$/;

const withoutDots = (host: string): string => host.replace(/\.+$/, '');

const isIpv4 = (host: string): boolean => /^\d+(\.\d+){3}$/.test(host);
const isAddress = (host: string): boolean => isIpv4(host) || host.startsWith('[');

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIpv4(host) && host.startsWith('127.'));
