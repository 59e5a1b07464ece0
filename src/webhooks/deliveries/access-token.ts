import * as v from 'valibot';
import { version } from '../../../package.json';
import { readUpTo } from '../../platform/body.ts';
import { config } from '../../platform/config.ts';
import { type Sealed, seal, unseal } from '../../platform/crypto.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { receiverProblem } from '../address.ts';
import { keepToken, type OAuthClient, openClient } from '../oauth.ts';
import { kindOf, type Outcome } from './policy.ts';

/** An access token, or why there is none; used until `goodUntil` (milliseconds since 1970). */
export type Token = { goodUntil: number } & (
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
  const client = await openClient(env, webhookId, sealed);
  const renew = async (until: number): Promise<Token> => {
    const found = await request(env, client, until);
    if (found.value !== undefined) await store(env, webhookId, sealed, found.value, found.goodUntil);
    return found;
  };
  let known = stored ? opened(env, webhookId, stored) : Promise.resolve(undefined);
  return async (until, refused) => {
    const next = known.then((now) => (now && isGood(now, refused) ? now : renew(until)));
    known = next;
    return next;
  };
}

const isGood = ({ value, goodUntil }: Token, refused: string | undefined): boolean =>
  goodUntil > Date.now() && (value === undefined || value !== refused);

/** Stores a token. Best effort: without it, the next worker requests another. */
async function store(
  env: Env,
  webhookId: string,
  client: Sealed,
  value: string,
  goodUntil: number,
): Promise<void> {
  const sealed = await seal(config(env).headerKeys, webhookId, { value, goodUntil: String(goodUntil) });
  await keepToken(openDatabase(env), webhookId, client, sealed).catch(() => {});
}

/** The token in D1; undefined if its key is gone. */
const opened = (env: Env, webhookId: string, sealed: Sealed): Promise<Token | undefined> =>
  unseal(config(env).headerKeys, webhookId, sealed).then(
    ({ value = '', goodUntil }) => ({ value, goodUntil: Number(goodUntil) }),
    () => undefined,
  );

/** Requests a token, by HTTP Basic and, if that is refused, once more in the body. */
async function request(env: Env, client: OAuthClient, until: number): Promise<Token> {
  const { clientId, clientSecret, scope } = client;
  const grant = { grant_type: 'client_credentials', ...(scope && { scope }) };
  const pair = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
  const basic = { Authorization: `Basic ${new TextEncoder().encode(pair.join(':')).toBase64()}` };
  const first = await ask(env, client.tokenUrl, grant, until, basic);
  if (!first.problem || !/invalid_client| 401/.test(first.problem.answer)) return first;
  return ask(env, client.tokenUrl, { ...grant, client_id: clientId, client_secret: clientSecret }, until);
}

async function ask(
  env: Env,
  url: string,
  fields: Record<string, string>,
  until: number,
  headers: Record<string, string> = {},
): Promise<Token> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback })) return problem('has an address that we do not call');
  const at = Date.now();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/x-www-form-urlencoded',
        'User-Agent': `FleetDataService/${version}`,
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(1, Math.min(tokenTimeoutMs, until - at))),
    });
    const text = await textOf(response);
    if (text === undefined) return problem(`responded with more than ${maxTokenBytes / 1024} KiB`);
    if (!response.ok) {
      const refusal = v.safeParse(Refused, text);
      return problem(`responded ${response.status}${refusal.success ? `: ${refusal.output.error}` : ''}`);
    }
    const granted = v.safeParse(Granted, text);
    if (!granted.success) return problem('responded without a bearer token');
    const { access_token: value, expires_in } = granted.output;
    const seconds = Number(expires_in);
    const life = seconds > 0 ? Math.min(seconds * 1000, longestLifeMs) : usualLifeMs;
    return { value, goodUntil: Math.round(at + life - Math.min(life / 5, spareMs)) };
  } catch (error) {
    return problem(failures[kindOf(error)]);
  }
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
  problem: { result: 'token', answer: `token endpoint ${what}` },
  goodUntil: Date.now() + problemKeptMs,
});

const failures = {
  timeout: 'did not respond in time',
  dns: 'has a host name that cannot be found',
  tls: 'has no certificate that we can trust',
  connection: 'cannot be reached',
};

/** The text of a response; undefined if it is too long. */
async function textOf({ body }: Response): Promise<string | undefined> {
  const bytes = await readUpTo(maxTokenBytes, body);
  return bytes && new TextDecoder().decode(bytes);
}
