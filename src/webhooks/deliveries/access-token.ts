import * as v from 'valibot';
import { version } from '../../../package.json';
import { config } from '../../platform/config.ts';
import { type Sealed, seal, unseal } from '../../platform/crypto.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { receiverProblem } from '../address.ts';
import { keepToken, type OAuthClient, openClient } from '../oauth.ts';
import { attempt, beginningOf, type Call, type CallTarget, callOnce } from './attempt.ts';
import { callTimeoutMs, type Outcome } from './policy.ts';

/** An access token, or why there is none; used until `goodUntil` (milliseconds since 1970). */
type Token = { goodUntil: number } & (
  | { value: string; problem?: never }
  | { value?: never; problem: Extract<Outcome, { result: 'token' }> }
);

/** Returns a token by `until` (milliseconds since 1970), other than the one the receiver has `refused`. */
export type Authorize = (until: number, refused?: string) => Promise<Token>;

/** How long a token endpoint may take, and how much it may return. */
export const tokenTimeoutMs = 5_000;
export const maxTokenBytes = 16 * 1024;

/** After a failure a worker's waiting deliveries fail with the endpoint's response for this long. */
const problemKeptMs = 5_000;

/** How long a token is used that does not say when it expires, and at most. */
const usualLifeMs = 5 * 60_000;
const longestLifeMs = dayMs;

/** A token is renewed when a fifth of its life is left, or a minute. */
const spareMs = 60_000;

/**
 * Gets access tokens for a webhook's calls, one request at a time. A new token is stored for all workers; `stored` is
 * the one that was in D1 when the webhook was read.
 *
 * @throws Error, if the key of the client is no longer in HEADER_KEYS
 */
export async function authorizer(
  env: Env,
  webhookId: string,
  sealed: Sealed,
  stored: Sealed | null,
): Promise<Authorize> {
  const { headerKeys } = config(env);
  const client = await openClient(env, webhookId, sealed);
  const renew = async (until: number): Promise<Token> => {
    const token = await request(env, client, until);
    if (token.value !== undefined) {
      const kept = { value: token.value, goodUntil: String(token.goodUntil) };
      // Best effort: without it, the next worker requests another.
      await keepToken(openDatabase(env), webhookId, sealed, await seal(headerKeys, webhookId, kept)).catch(
        () => {},
      );
    }
    return token;
  };
  const read = async (): Promise<Token> => {
    const { value = '', goodUntil } = stored ? await unseal(headerKeys, webhookId, stored) : {};
    return { value, goodUntil: Number(goodUntil ?? 0) };
  };
  let known = read().catch(() => undefined); // its key is gone
  return async (until, refused) => {
    const next = known.then((now) => (now && isGood(now, refused) ? now : renew(until)));
    known = next;
    return next;
  };
}

const isGood = ({ value, goodUntil }: Token, refused: string | undefined): boolean =>
  goodUntil > Date.now() && (value === undefined || value !== refused);

/** How much time must be left to repeat a call with another token. */
const renewWithinMs = callTimeoutMs - 1000;

/**
 * Makes the call of a delivery with an access token. If the receiver refuses it, renews it once, within the time of a
 * single call. Never throws.
 */
export async function authorized(authorize: Authorize, target: CallTarget, call: Call): Promise<Outcome> {
  const began = Date.now();
  const until = began + callTimeoutMs;
  let refused: string | undefined;
  for (;;) {
    const token = await authorize(until, refused);
    if (token.problem) return token.problem;
    const headers = { ...target.headers, Authorization: `Bearer ${token.value}` };
    const outcome = await attempt({ ...target, headers }, call, Math.max(1, until - Date.now()));
    if (outcome.status !== 401 || refused !== undefined || Date.now() - began > renewWithinMs) return outcome;
    refused = token.value;
  }
}

/** Requests a token, by HTTP Basic and, if that is refused, once more in the body. */
async function request(env: Env, client: OAuthClient, until: number): Promise<Token> {
  const { clientId, clientSecret, scope } = client;
  const grant = { grant_type: 'client_credentials', ...(scope && { scope }) };
  const pair = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
  const basic = { Authorization: `Basic ${new TextEncoder().encode(pair.join(':')).toBase64()}` };
  const first = await ask(env, client.tokenUrl, grant, until, basic);
  if (!first.problem || !/invalid_client| 401/.test(first.problem.reason ?? '')) return first;
  return ask(env, client.tokenUrl, { ...grant, client_id: clientId, client_secret: clientSecret }, until);
}

async function ask(
  env: Env,
  url: string,
  fields: Record<string, string>,
  until: number,
  authorization: Record<string, string> = {},
): Promise<Token> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback })) return problem(failures['blocked address']);
  const at = Date.now();
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/x-www-form-urlencoded',
    'User-Agent': `FleetDataService/${version}`,
    ...authorization,
  };
  const init = { method: 'POST', headers, body: new URLSearchParams(fields).toString() };
  const outcome = await callOnce(url, init, Math.max(1, Math.min(tokenTimeoutMs, until - at)), (response) =>
    beginningOf(response, maxTokenBytes, tokenTimeoutMs),
  );
  if (outcome.result === 'token' || !('answer' in outcome))
    return problem(failures[outcome.result as keyof typeof failures]);
  if (outcome.result !== 'success') {
    const refusal = v.safeParse(Refused, outcome.answer);
    return problem(`responded ${outcome.status}${refusal.success ? `: ${refusal.output.error}` : ''}`);
  }
  const granted = v.safeParse(Granted, outcome.answer);
  if (!granted.success) return problem('responded without a bearer token');
  const { access_token: value, expires_in } = granted.output;
  const seconds = Number(expires_in);
  const life = seconds > 0 ? Math.min(seconds * 1000, longestLifeMs) : usualLifeMs;
  return { value, goodUntil: Math.round(at + life - Math.min(life / 5, spareMs)) };
}

const Granted = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    access_token: v.pipe(v.string(), v.regex(/^[!-~]{1,12000}$/)),
    token_type: v.optional(v.pipe(v.string(), v.regex(/^bearer$/i))),
    expires_in: v.optional(v.unknown()),
  }),
);

/** Error codes are single words; other text may repeat a secret. */
const Refused = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ error: v.pipe(v.string(), v.regex(/^[a-z_]{1,60}$/)) }),
);

const problem = (what: string): Token => ({
  problem: { result: 'token', reason: `token endpoint ${what}` },
  goodUntil: Date.now() + problemKeptMs,
});

const failures = {
  timeout: 'did not respond in time',
  dns: 'has a host name that cannot be found',
  tls: 'has no certificate that we can trust',
  connection: 'cannot be reached',
  'blocked address': 'has an address that we do not call',
};
