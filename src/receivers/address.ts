import ipaddr from 'ipaddr.js';

/** Why a url cannot receive deliveries: it is not an absolute https URL, or not an address that may be called. */
export type ReceiverProblem = 'not https' | 'not public' | 'has credentials';

/** The service's own host name, which must not call itself, and whether this machine may be called. */
export type ReceiverPolicy = { ownHost?: string | undefined; allowLoopback: boolean };

const internalSuffixes = ['.local', '.internal', '.localhost', '.home.arpa'];

/**
 * Why `url` cannot receive deliveries, or undefined if it can: the same policy when a webhook is saved and when it
 * is called (design 6). Names are checked as names; on Workers, what they resolve to cannot be pinned.
 */
export function receiverProblem(url: string, policy: ReceiverPolicy): ReceiverProblem | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:') return 'not https';
  if (parsed.username || parsed.password) return 'has credentials';
  // The URL parser has already turned every notation of IPv4 into dotted decimals, and the name into lower case.
  const host = parsed.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  if (policy.allowLoopback && isLoopback(host)) return undefined;
  if (host === policy.ownHost) return 'not public';
  if (ipaddr.isValid(host)) return isGlobalUnicast(host) ? undefined : 'not public';
  const internal = !host.includes('.') || internalSuffixes.some((suffix) => host.endsWith(suffix));
  return internal ? 'not public' : undefined;
}

function isGlobalUnicast(literal: string): boolean {
  const address = ipaddr.parse(literal);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(ipaddr.parse('2000::'), 3);
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.parse(host).range() === 'loopback');
