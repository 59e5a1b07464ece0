import { type Sealed, seal, unseal } from '../../core/platform/crypto.ts';
import { transaction } from '../../core/platform/db/database.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { type Authorize, isStill, setOptions } from '../../core/webhooks/options.ts';
import { openClient } from './client.ts';
import { requestToken, type Token } from './token-endpoint.ts';

/** Gets access tokens for a webhook, one request at a time. @throws Error, if its key is gone */
export async function authorizer(
  { env, webhookId, userAgent }: { env: Env; webhookId: string; userAgent: string },
  sealed: Sealed,
  stored: Sealed | null | undefined,
): Promise<Authorize> {
  const client = await openClient(env, webhookId, sealed);
  const renew = async (until: number, inBody = false): Promise<Token> => {
    const token = await requestToken({ env, userAgent }, client, until, inBody);
    if (token.value !== undefined) {
      const { value, goodUntil } = token;
      const kept = { value, goodUntil: String(goodUntil), ...(token.inBody && { inBody: 'yes' }) };
      const db = openDatabase(env);
      const oauthToken = await seal(env, webhookId, kept);
      const keep = setOptions(db, { oauthToken }, isStill(webhookId, 'oauth', sealed));
      // Best effort: without it, the next worker requests another.
      await transaction(db, keep).catch(() => {});
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
