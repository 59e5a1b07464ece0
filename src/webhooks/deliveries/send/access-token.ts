import { config } from '../../../platform/config.ts';
import { type Sealed, seal, unseal } from '../../../platform/crypto.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { keepToken, openClient } from '../../oauth.ts';
import { callTimeoutMs, type Outcome } from '../policy.ts';
import { attempt, type Call, type CallTarget } from './attempt.ts';
import { requestToken, type Token } from './token-endpoint.ts';

/** Returns a token by `until` (milliseconds since 1970), other than the one the receiver has `refused`. */
export type Authorize = (until: number, refused?: string) => Promise<Token>;

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
  const renew = async (until: number, inBody = false): Promise<Token> => {
    const token = await requestToken(env, client, until, inBody);
    if (token.value !== undefined) {
      const { value, goodUntil } = token;
      const kept = { value, goodUntil: String(goodUntil), ...(token.inBody && { inBody: 'yes' }) };
      // Best effort: without it, the next worker requests another.
      await keepToken(openDatabase(env), webhookId, sealed, await seal(headerKeys, webhookId, kept)).catch(
        () => {},
      );
    }
    return token;
  };
  const read = async (): Promise<Token> => {
    const { value = '', goodUntil, inBody } = stored ? await unseal(headerKeys, webhookId, stored) : {};
    return { value, goodUntil: Number(goodUntil ?? 0), inBody: inBody !== undefined };
  };
  let known = read().catch(() => undefined); // its key is gone
  return async (until, refused) => {
    const next = known.then((now) => (now && isGood(now, refused) ? now : renew(until, now?.inBody)));
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
    const outcome = await attempt({ ...target, token: token.value }, call, Math.max(1, until - Date.now()));
    const isLast = refused !== undefined || Date.now() - began > renewWithinMs;
    if (outcome.status !== 401 || isLast) return outcome;
    refused = token.value;
  }
}
