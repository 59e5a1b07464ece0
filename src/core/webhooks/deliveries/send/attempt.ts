import { version } from '../../../../../package.json';
import { receiverProblem } from '../../../platform/address.ts';
import { config } from '../../../platform/config.ts';
import { unseal } from '../../../platform/crypto.ts';
import { signatureHeaders, signingKeys } from '../../signing.ts';
import { callTimeoutMs, type Outcome } from '../policy.ts';
import { authorizer, withToken } from './access-token.ts';
import { callOnce, firstKiB } from './call-once.ts';
import type { CallSettings } from './claim.ts';

/** A call of a delivery; `attempt` counts from 1, `data` is JSON. It may start until `startBy`. */
export type Call = { id: string; attempt: number; type: number; data: string; startBy: number };

/** Makes the call of a delivery; undefined if it is too late. Never throws. */
export type MakeCall = (call: Call) => Promise<Outcome | undefined>;

/** How to call a webhook's receiver. @throws Error, if the key of an encrypted part is gone */
export async function prepareCalls(
  env: Env,
  webhookId: string,
  { url, httpVerb, headers: custom, signing, oauth, oauthToken }: CallSettings,
): Promise<MakeCall> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback })) return async () => ({ result: 'blocked address' });
  const common = headersFor(await unseal(env, webhookId, custom), oauth !== null);
  const keys = signing ? await signingKeys(env, webhookId, signing) : [];

  const attempt = async (call: Call, token?: string, timeoutMs = callTimeoutMs) => {
    const at = Date.now();
    // `data` is JSON already; parsing and writing it again would cost CPU.
    const body = `{"timestamp":"${new Date(at).toISOString()}","type":${call.type},"data":${call.data}}`;
    const signature =
      keys.length > 0 ? await signatureHeaders(keys, { id: call.id, at, body }) : {};
    const headers = {
      ...common,
      'Delivery-Id': call.id,
      'Delivery-Attempt': String(call.attempt),
      ...signature,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    if (Date.now() > call.startBy) return undefined;
    return callOnce(url, { method: httpVerb, headers, body }, timeoutMs, (response) =>
      firstKiB(response, token),
    );
  };

  if (!oauth) return (call) => attempt(call);
  const authorize = await authorizer(env, webhookId, oauth, oauthToken);
  return (call) => withToken(authorize, (token, timeoutMs) => attempt(call, token, timeoutMs));
}

/** The headers of every call, as a plain object: `Headers` are slower to copy. */
export function headersFor(
  custom: Record<string, string>,
  isAuthorized: boolean,
): Record<string, string> {
  const sent = Object.entries(custom).filter(
    ([name]) => !isAuthorized || !/^authorization$/i.test(name),
  );
  const isNamed = sent.some(([name]) => /^user-agent$/i.test(name));
  return {
    ...(!isNamed && { 'User-Agent': `FleetDataService/${version}` }),
    ...Object.fromEntries(sent),
    'Content-Type': 'application/json',
  };
}
