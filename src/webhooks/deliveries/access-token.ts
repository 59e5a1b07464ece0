import { version } from '../../../package.json';
import { config } from '../../platform/config.ts';
import { type Sealed, seal, unseal } from '../../platform/crypto.ts';
import { openDatabase, statement } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { receiverProblem } from '../address.ts';
import { keepToken, type OAuthClient, openClient } from '../oauth.ts';
import { kindOf, type Outcome } from './policy.ts';

/** An access token, used until `goodUntil` (milliseconds since 1970). */
export type Token = { value: string; goodUntil: number };

/** A failure of the token endpoint. */
type TokenProblem = Extract<Outcome, { result: 'token' }>;

/** Returns a token by `until` (milliseconds since 1970), other than the one the receiver has `refused`. */
export type Authorize = (until: number, refused?: string) => Promise<Token | TokenProblem>;

/** How long a token endpoint may take, and how much it may return. */
export const tokenTimeoutMs = 5_000;
export const maxTokenBytes = 16 * 1024;

/** After a failure the endpoint is not called for this long; waiting deliveries fail with its response. */
export const problemKeptMs = 5_000;

/** How long a token is used that does not say when it expires, and at most. */
const usualLifeMs = 5 * 60_000;
const longestLifeMs = dayMs;

/** A token is renewed when a fifth of its life is left, or a minute. */
const spareMs = 60_000;

const lookAgainMs = 200;

/**
 * The content of `oauth_token`: an encrypted token, a worker's lease for requesting one, or why there is none, until
 * when.
 */
type Kept = Sealed | { until: number; problem?: string };

/**
 * Gets access tokens for a webhook's calls. All workers use the token in D1: one of them requests it, the others wait.
 * `kept` is D1's value when the webhook was read.
 */
export function authorizer(env: Env, webhookId: string, sealed: Sealed, kept: string | null): Authorize {
  let first: { kept: string | null } | undefined = { kept };
  let known: Token | undefined;
  let pending: Promise<Token | TokenProblem> | undefined;
  const get = async (until: number, refused: string | undefined): Promise<Token | TokenProblem> => {
    const from = first;
    first = undefined;
    const found = await tokenFor(env, webhookId, sealed, { until, refused, from });
    known = 'value' in found ? found : undefined;
    return found;
  };
  return (until, refused) => {
    if (known && isGood(known, refused)) return Promise.resolve(known);
    pending ??= get(until, refused).finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

const isGood = ({ value, goodUntil }: Token, refused: string | undefined): boolean =>
  value !== refused && goodUntil > Date.now();

type Wanted = { until: number; refused: string | undefined; from: { kept: string | null } | undefined };

async function tokenFor(
  env: Env,
  webhookId: string,
  sealed: Sealed,
  { until, refused, from }: Wanted,
): Promise<Token | TokenProblem> {
  const db = openDatabase(env);
  const read = async () => {
    const [row] = await statement<{ kept: string | null }>(db)`
      select oauth_token as kept from webhooks where id = ${webhookId} and oauth->>'iv' = ${sealed.iv}`;
    return row;
  };
  for (let now = from ?? (await read()); Date.now() < until; now = await read()) {
    if (!now) return problem('token endpoint was not asked, for the webhook has just been changed');
    const kept: Kept | null = JSON.parse(now.kept ?? 'null');
    if (kept && 'until' in kept && kept.until > Date.now()) {
      if (kept.problem) return problem(kept.problem);
      await scheduler.wait(lookAgainMs);
      continue;
    }
    const token = kept && 'key' in kept ? await opened(env, webhookId, kept) : undefined;
    if (token && isGood(token, refused)) return token;
    const lease = JSON.stringify({ until: Date.now() + tokenTimeoutMs } satisfies Kept);
    const { meta } = await keepToken(db, webhookId, sealed, now.kept, lease);
    if (meta.changes === 0) continue; // another worker was faster
    const found = await request(env, await openClient(env, webhookId, sealed), until);
    const next: Kept =
      typeof found === 'string'
        ? { until: Date.now() + problemKeptMs, problem: found }
        : await seal(config(env).headerKeys, webhookId, {
            value: found.value,
            goodUntil: String(found.goodUntil),
          });
    await keepToken(db, webhookId, sealed, lease, JSON.stringify(next));
    return typeof found === 'string' ? problem(found) : found;
  }
  return problem('token endpoint did not respond in time');
}

const problem = (answer: string): TokenProblem => ({ result: 'token', answer });

/** The token in D1; undefined if its key is gone. */
const opened = (env: Env, webhookId: string, sealed: Sealed): Promise<Token | undefined> =>
  unseal(config(env).headerKeys, webhookId, sealed).then(
    ({ value = '', goodUntil }) => ({ value, goodUntil: Number(goodUntil) }),
    () => undefined,
  );

/** Requests a token, by HTTP Basic and, if that is refused, once more in the body. Returns what failed. */
async function request(env: Env, client: OAuthClient, until: number): Promise<Token | string> {
  const { clientId, clientSecret, scope } = client;
  const grant = { grant_type: 'client_credentials', ...(scope && { scope }) };
  const pair = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
  const basic = { Authorization: `Basic ${new TextEncoder().encode(pair.join(':')).toBase64()}` };
  const first = await ask(env, client.tokenUrl, grant, until, basic);
  if (typeof first !== 'string' || !/invalid_client| 401/.test(first)) return first;
  return ask(env, client.tokenUrl, { ...grant, client_id: clientId, client_secret: clientSecret }, until);
}

async function ask(
  env: Env,
  url: string,
  fields: Record<string, string>,
  until: number,
  headers: Record<string, string> = {},
): Promise<Token | string> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback })) return 'token endpoint has an address that we do not call';
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
    if (text === undefined) return `token endpoint responded with more than ${maxTokenBytes / 1024} KiB`;
    const said = parsed(text);
    // Error codes are single words; other text may repeat a secret.
    const code = typeof said.error === 'string' && /^[a-z_]{1,60}$/.test(said.error) ? `: ${said.error}` : '';
    if (!response.ok) return `token endpoint responded ${response.status}${code}`;
    return tokenIn(said, at) ?? 'token endpoint responded without a bearer token';
  } catch (error) {
    return `token endpoint ${failures[kindOf(error)]}`;
  }
}

const failures = {
  timeout: 'did not respond in time',
  dns: 'has a host name that cannot be found',
  tls: 'has no certificate that we can trust',
  connection: 'cannot be reached',
};

/** The text of a response; undefined if it is too long. */
async function textOf({ body }: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxTokenBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function parsed(text: string): { [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function tokenIn(said: { [name: string]: unknown }, at: number): Token | undefined {
  const { access_token: value, token_type: type = 'bearer', expires_in: seconds } = said;
  if (typeof value !== 'string' || !/^[!-~]{1,12000}$/.test(value)) return undefined;
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return undefined;
  const life = Number(seconds) > 0 ? Math.min(Number(seconds) * 1000, longestLifeMs) : usualLifeMs;
  return { value, goodUntil: Math.round(at + life - Math.min(life / 5, spareMs)) };
}
