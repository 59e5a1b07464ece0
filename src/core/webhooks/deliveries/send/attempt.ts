import { version } from '../../../../../package.json';
import { receiverProblem } from '../../../platform/address.ts';
import { config } from '../../../platform/config.ts';
import { unseal } from '../../../platform/crypto.ts';
import { type Authorize, options } from '../../options.ts';
import { callTimeoutMs, type Outcome } from '../policy.ts';
import { callOnce, firstKiB } from './call-once.ts';
import type { CallSettings } from './claim.ts';

/** A call of a delivery; `attempt` counts from 1, `data` is JSON. It may start until `startBy`. */
export type Call = { id: string; attempt: number; type: number; data: string; startBy: number };

const userAgent = `FleetDataService/${version}`;

/** Makes the call of a delivery; undefined if it is too late. Never throws. */
export type MakeCall = (call: Call) => Promise<Outcome | undefined>;

/** How to call a webhook's receiver. @throws Error, if the key of an encrypted part is gone */
export async function prepareCalls(
  env: Env,
  webhookId: string,
  { url, httpVerb, headers: custom, options: stored }: CallSettings,
): Promise<MakeCall> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback })) return async () => ({ result: 'blocked address' });
  const prepared = await Promise.all(
    options().map((option) => option.prepareCalls?.(stored, { env, webhookId, userAgent })),
  );
  const headersOf = prepared.flatMap((one) => one?.headersOf ?? []);
  const [authorize] = prepared.flatMap((one) => one?.authorize ?? []);
  const common = headersFor(await unseal(env, webhookId, custom), authorize !== undefined);

  const attempt = async (call: Call, token?: string, timeoutMs = callTimeoutMs) => {
    const at = Date.now();
    // `data` is JSON already; parsing and writing it again would cost CPU.
    const body = `{"timestamp":"${new Date(at).toISOString()}","type":${call.type},"data":${call.data}}`;
    const added = await Promise.all(headersOf.map((of) => of({ id: call.id, at, body })));
    const headers = {
      ...common,
      'Delivery-Id': call.id,
      'Delivery-Attempt': String(call.attempt),
      ...Object.assign({}, ...added),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    if (Date.now() > call.startBy) return undefined;
    return callOnce(url, { method: httpVerb, headers, body }, timeoutMs, (response) =>
      firstKiB(response, token),
    );
  };

  if (!authorize) return (call) => attempt(call);
  return (call) => withToken(authorize, (token, timeoutMs) => attempt(call, token, timeoutMs));
}

/** How much time must be left to renew a token. */
const renewalMs = 1_000;

/** Makes a call with a token, and renews a refused one once. `call` returns undefined if it is too late. */
async function withToken(
  authorize: Authorize,
  call: (token: string, timeoutMs: number) => Promise<Outcome | undefined>,
): Promise<Outcome | undefined> {
  const until = Date.now() + callTimeoutMs;
  const callWith = (token: string) => call(token, Math.max(1, until - Date.now()));
  const first = await authorize(until);
  if (first.value === undefined) return { result: 'token', reason: first.problem };
  const outcome = await callWith(first.value);
  if (outcome?.status !== 401 || until - Date.now() < renewalMs) return outcome;
  const second = await authorize(until, first.value);
  if (second.value === undefined) return { result: 'token', reason: second.problem };
  return (await callWith(second.value)) ?? outcome;
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
    ...(!isNamed && { 'User-Agent': userAgent }),
    ...Object.fromEntries(sent),
    'Content-Type': 'application/json',
  };
}
