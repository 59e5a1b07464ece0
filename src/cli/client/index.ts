import { Webhook } from 'standardwebhooks';
import * as api from './api.js';

export type * from './api.js';
export { ApiError, TimeoutError } from './api.js';

/** What a webhook is called with. */
export type Delivery = api.AccidentDelivery | api.EventDelivery;

/** What else a client may be configured with. */
type Settings = Omit<api.ClientConfig, 'serverUrl' | 'auth' | 'argsStyle' | 'errorMode'>;

/**
 * A client of the service at `baseUrl`, with each operation of the API as a function. What fails for a moment is tried
 * again, after `Retry-After` if the reply has it; other failures throw an ApiError.
 */
export const fleetClient = ({
  baseUrl,
  token,
  retry,
  ...settings
}: Settings & { baseUrl: string; token: string }) =>
  api.createClient<api.Ops, api.OperationId, api.OperationPath, api.OperationTag>(api.OPERATIONS, {
    timeout: 30_000,
    clientHeader: false,
    ...settings,
    argsStyle: 'flat', // as redocly.yaml says
    serverUrl: baseUrl,
    auth: { apiKey: { ApiToken: token } },
    retry: { retries: 5, retryOn: canRetry, ...retry },
  });

/** A call that was refused with 429 has done nothing, so that one which creates something can be repeated as well. */
const canRetry = (context: api.RetryContext): boolean =>
  context.response?.status === 429 || api.defaultRetryOn(context);

/**
 * Verifies a signed delivery: its body exactly as it was received, with its headers as Node or a Request has them.
 * Returns the delivery.
 *
 * @throws WebhookVerificationError when the secret did not sign it, or it is more than five minutes old
 */
export function verify(
  body: string,
  headers: Headers | { [name: string]: string | string[] | undefined },
  secret: string,
): Delivery {
  const byName = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return new Webhook(secret).verify(body, byName as Record<string, string>) as Delivery; // as we sent it
}
