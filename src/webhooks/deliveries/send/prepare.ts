import { config } from '../../../platform/config.ts';
import { unseal } from '../../../platform/crypto.ts';
import { receiverProblem } from '../../address.ts';
import { signingKeys } from '../../signing.ts';
import type { Outcome } from '../policy.ts';
import { authorized, authorizer } from './access-token.ts';
import { attempt, type Call, headersFor } from './attempt.ts';
import type { CallSettings } from './claim.ts';

/** Makes one call of a delivery. Never throws. */
export type MakeCall = (call: Call) => Promise<Outcome>;

/**
 * How to call a webhook's receiver, for deliveries and tests alike: with its headers, its signature and an access token.
 * Prepared once for many calls.
 *
 * @throws Error, if the key of an encrypted part is no longer in HEADER_KEYS
 */
export async function prepareCalls(
  env: Env,
  webhookId: string,
  { headers, signing, oauth, oauthToken, ...plain }: CallSettings,
): Promise<MakeCall> {
  const { allowLoopbackReceivers: allowLoopback, headerKeys } = config(env);
  if (receiverProblem(plain.url, { allowLoopback })) return async () => ({ result: 'blocked address' });
  const target = {
    ...plain,
    headers: headersFor(await unseal(headerKeys, webhookId, headers), oauth !== null),
    keys: signing ? await signingKeys(env, webhookId, signing) : [],
  };
  if (!oauth) return (call) => attempt(target, call);
  const authorize = await authorizer(env, webhookId, oauth, oauthToken);
  return (call) => authorized(authorize, target, call);
}
