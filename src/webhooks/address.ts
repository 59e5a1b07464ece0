/** Why a url cannot receive deliveries: it is not an absolute https URL, or not an address that may be called. */
export type ReceiverProblem = 'not https' | 'ip address' | 'not public' | 'has credentials' | 'reserved port';

/** How a url is refused, in the words that the contract fixes. */
export const urlProblems = {
  'not https': { message: "Invalid URL, must use 'https'", field: 'must be an absolute https URL' },
  'ip address': {
    message: 'Invalid URL, must use a host name instead of an IP address',
    field: 'must use a host name instead of an IP address',
  },
  'not public': {
    message: 'Invalid URL, must be a public address',
    field: 'must not be a private, local or reserved name, nor this service itself',
  },
  'has credentials': {
    message: 'Invalid URL, must not contain credentials',
    field: 'must not contain a user name or password',
  },
  'reserved port': {
    message: 'Invalid URL, must use port 443 or one from 1024 up',
    field: 'must use port 443 or one from 1024 up',
  },
} satisfies Record<ReceiverProblem, { message: string; field: string }>;

/** How long a receiver's url can be. */
export const maxUrlLength = 2048;

/** The service's own host name, which must not call itself, and whether this machine may be called. */
export type ReceiverPolicy = { ownHost?: string | undefined; allowLoopback: boolean };

/** Names that are reserved, or that private networks use, and that are never public. */
export const internalSuffixes = [
  ...[
    '.local',
    '.internal',
    '.localhost',
    '.localdomain',
    '.home.arpa',
    '.lan',
    '.corp',
    '.home',
    '.intranet',
  ],
  ...['.private', '.test', '.invalid', '.onion', '.example', '.svc'],
];

/** Ports below this belong to other services than receivers, such as SSH and mail, all but that of https itself. */
export const lowestPort = 1024;

/**
 * Why `url` cannot receive deliveries, or undefined if it can: the same policy when a webhook is saved and when it
 * is called. Names are checked as names; on Workers, what they resolve to cannot be pinned.
 */
export function receiverProblem(url: string, policy: ReceiverPolicy): ReceiverProblem | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:') return 'not https';
  if (parsed.username || parsed.password) return 'has credentials';
  // The URL parser has already turned every notation of IPv4 into dotted decimals, put IPv6 into brackets in its shortest
  // form, and the name into lower case.
  const host = withoutDots(parsed.hostname);
  if (policy.allowLoopback && isLoopback(host)) return undefined;
  if (isAddress(host)) return 'ip address'; // Cloudflare answers calls of one itself: error 1003
  if (!isPublic(host, policy.ownHost)) return 'not public';
  return parsed.port !== '' && Number(parsed.port) < lowestPort ? 'reserved port' : undefined;
}

/** The same for the address of a provider's API, which local runs may also call by plain http on this machine. */
export function providerProblem(url: string, policy: ReceiverPolicy): ReceiverProblem | undefined {
  const parsed = URL.parse(url);
  const isLocal = parsed?.protocol === 'http:' && isLoopback(parsed.hostname);
  return receiverProblem(isLocal && policy.allowLoopback ? url.replace(/^http:/i, 'https:') : url, policy);
}

/**
 * A url as it counts for telling whether an account has two webhooks for one receiver: in the spelling of the URL
 * standard, without the fragment, which is never sent, and without the dot that may end a host's name.
 */
export function normalisedUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  parsed.hostname = withoutDots(parsed.hostname);
  return parsed.href;
}

function isPublic(host: string, ownHost: string | undefined): boolean {
  if (ownHost !== undefined && host === withoutDots(ownHost)) return false;
  return host.includes('.') && !internalSuffixes.some((suffix) => `.${host}`.endsWith(suffix));
}

const withoutDots = (host: string): string => host.replace(/\.+$/, '');

const isIpv4 = (host: string): boolean => /^\d+(\.\d+){3}$/.test(host);
const isAddress = (host: string): boolean => isIpv4(host) || host.startsWith('[');

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIpv4(host) && host.startsWith('127.'));
