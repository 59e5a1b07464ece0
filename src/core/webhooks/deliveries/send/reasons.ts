import { parseRetryAfter } from '../../../platform/retry-after.ts';
import type { Outcome } from '../policy.ts';

/** How Cloudflare's network reports an unreachable receiver. 530 has a code besides. */
const networkFailures: { [status: number]: 'tls' | 'dns' | 'connection' | 'timeout' } = {
  520: 'connection', // an empty or unreadable response
  521: 'connection', // refused
  522: 'timeout', // of the connection
  523: 'connection', // no route
  524: 'timeout', // of the response
  525: 'tls',
  526: 'tls',
  530: 'connection',
};

/** Cloudflare's errors, which are the body of a response of any status. */
const cloudflareErrors: { [code: number]: string } = {
  1000: 'its DNS record names an address that is not allowed',
  1001: 'its host name cannot be resolved',
  1006: 'our address is blocked',
  1007: 'our address is blocked',
  1008: 'our address is blocked',
  1009: 'calls from our country are blocked',
  1010: 'its firewall blocks programs',
  1012: 'its firewall blocks our calls',
  1014: "its host name points to another Cloudflare customer's",
  1015: 'its firewall limits how often it is called',
  1016: 'the host name of the server behind it cannot be resolved',
  1018: 'its host name is unknown to Cloudflare',
  1020: 'its firewall blocks our calls',
  1023: 'its host name is unknown to Cloudflare',
  1033: 'its tunnel is not running',
  1101: 'its Worker threw an error',
  1102: 'its Worker used too much time or memory',
  1106: 'our address is blocked',
};
const nameErrors = [1001, 1016, 1018, 1023];

/** Callers that accept JSON get the code in JSON. */
const plainError = /^error code: (\d{3,4})\s*$/;
const jsonError = /"error_code"\s*:\s*(\d{3,4})\b/;

const longestTarget = 200;

/** What a response to a call of `url` means. `answer` is its text. */
export function outcomeOf({ status, headers }: Response, answer: string, url: string): Outcome {
  if (status >= 200 && status < 300) return { result: 'success', status, answer };
  if (status >= 300 && status < 400)
    return {
      result: 'redirect',
      status,
      answer,
      ...because(targetOf(headers.get('location'), url)),
    };
  const unreached = networkFailures[status];
  const error = plainError.exec(answer) ?? (unreached && jsonError.exec(answer));
  const code = Number(error?.[1]);
  if (unreached && error)
    return {
      result: nameErrors.includes(code) ? 'dns' : unreached,
      status,
      ...because(inWords(code)),
    };
  const isChallenge = headers.get('cf-mitigated') === 'challenge';
  const reason = isChallenge
    ? 'its firewall asks for a check that only a browser can pass'
    : inWords(code);
  const retryAfter = parseRetryAfter(headers.get('retry-after'), Date.now());
  return { result: 'status', status, answer, retryAfter, ...because(reason) };
}

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason });

/** Codes below 1000 repeat the status. */
const inWords = (code: number): string | undefined =>
  code >= 1000
    ? [cloudflareErrors[code], `Cloudflare error ${code}`].filter(Boolean).join(': ')
    : undefined;

/** Where a redirect leads, without what may be secret: user, password, query and fragment. */
function targetOf(location: string | null, from: string): string | undefined {
  const target = location === null ? null : URL.parse(location, from);
  if (!target || !/^https?:$/.test(target.protocol)) return undefined;
  const shown = `to ${target.origin}${target.pathname}`;
  return shown.length > longestTarget ? `${shown.slice(0, longestTarget)}…` : shown;
}
