import { type Sealed, seal, unseal } from '../../../platform/crypto.ts';
import { transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { keepToken, openClient } from '../../oauth.ts';
import { callTimeoutMs, type Outcome } from '../policy.ts';
import { requestToken, type Token } from './token-endpoint.ts';

/** Returns a token by `until`, other than the one that was `refused`. */
type Authorize = (until: number, refused?: string) => Promise<Token>;

/** How much time must be left to renew a token. */
const renewalMs = 1_000;

/** Makes a call with a token, and renews a refused one once. `call` returns undefined if it is too late. */
export async function withToken(
  authorize: Authorize,
  call: (token: string, timeoutMs: number) => Promise<Outcome | undefined>,
): Promise<Outcome | undefined> {
  const until = Date.now() + callTimeoutMs;
  const callWith = (token: string) => call(token, Math.max(1, until - Date.now()));
  const first = await authorize(until);
  if (first.problem) return first.problem;
  const outcome = await callWith(first.value);
  if (outcome?.status !== 401 || until - Date.now() < renewalMs) return outcome;
  const second = await authorize(until, first.value);
  return second.problem ?? (await callWith(second.value)) ?? outcome;
}

/** Gets access tokens for a webhook, one request at a time. @throws Error, if its key is gone */
export async function authorizer(
  env: Env,
  webhookId: string,
  sealed: Sealed,
  stored: Sealed | null,
): Promise<Authorize> {
  const client = await openClient(env, webhookId, sealed);
  const renew = async (until: number, inBody = false): Promise<Token> => {
    const token = await requestToken(env, client, until, inBody);
    if (token.value !== undefined) {
      const { value, goodUntil } = token;
      const kept = { value, goodUntil: String(goodUntil), ...(token.inBody && { inBody: 'yes' }) };
      const db = openDatabase(env);
      const resealed = await seal(env, webhookId, kept);
      // Best effort: without it, the next worker requests another.
      await transaction(db, keepToken(db, webhookId, sealed, resealed)).catch(() => {});
    }
    return token;
  };
  const read = async (): Promise<Token> => {
    const { value = '', goodUntil, inBody } = stored ? await unseal(env, webhookId, stored) : {};
    return { value, goodUntil: Number(goodUntil ?? 0), inBody: inBody !== undefined };
  };
  let known = read().catch(() => undefined); // its key is gone
  return async (until, refused) => {
    const next = known.then((now) =>
      now && isGood(now, refused) ? now : renew(until, now?.inBody),
    );
    known = next;
    return next;
  };
}

const isGood = ({ value, goodUntil }: Token, refused: string | undefined): boolean =>
  goodUntil > Date.now() && (value === undefined || value !== refused);
