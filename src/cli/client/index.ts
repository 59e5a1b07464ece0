import { Webhook } from 'standardwebhooks';
import * as api from './api.js';
import * as ingest from './ingest.js';

export type * from './api.js';
export { ApiError, TimeoutError } from './api.js';
export type * as ingest from './ingest.js';

export type Delivery = api.AccidentDelivery | api.EventDelivery;

type Settings = Omit<api.ClientConfig, 'serverUrl' | 'auth' | 'argsStyle' | 'errorMode'> & {
  baseUrl: string;
};

/** A client of the service. Temporary failures are retried; others throw an ApiError. */
export const fleetClient = ({ token, ...settings }: Settings & { token: string }) =>
  api.createClient<api.Ops, api.OperationId, api.OperationPath, api.OperationTag>(
    api.OPERATIONS,
    configOf(settings, { ApiToken: token }),
  );

/** A client for connectors, which only sends records; its types are in `ingest`. Failures are as of `fleetClient`. */
export const ingestClient = ({ ingestKey, ...settings }: Settings & { ingestKey: string }) =>
  api.createClient<ingest.Ops, ingest.OperationId, ingest.OperationPath, ingest.OperationTag>(
    ingest.OPERATIONS,
    // Known records change nothing: with a key, a call is retried although it is a POST.
    configOf({ idempotencyKey: true, ...settings }, { IngestKey: ingestKey }),
  );

const configOf = (
  { baseUrl, retry, ...settings }: Settings,
  apiKey: { [scheme: string]: string },
): api.ClientConfig => ({
  timeout: 30_000,
  clientHeader: false,
  ...settings,
  argsStyle: 'flat', // as redocly.yaml says
  serverUrl: baseUrl,
  auth: { apiKey },
  retry: { retries: 5, retryOn: canRetry, ...retry },
  onError: async (error, context) => explained((await settings.onError?.(error, context)) ?? error),
});

/** The error with what the service says, and the id by which its log has the request. */
function explained(error: Error): Error {
  const { message, requestId } = ((error as { body?: unknown }).body ?? {}) as Partial<api.Failure>; // as it replies
  if (message && requestId) error.message = `${error.message}: ${message} (request ${requestId})`;
  return error;
}

/** A call refused with 429 has done nothing, so even one that creates something can be repeated. */
const canRetry = (context: api.RetryContext): boolean =>
  context.response?.status === 429 || api.defaultRetryOn(context);

/**
 * Verifies a signed delivery: its body exactly as received, with its headers as Node or a Request has them.
 * @throws WebhookVerificationError, when the secret did not sign it, or it is older than five minutes
 */
export function verify(
  body: string,
  headers: Headers | { [name: string]: string | string[] | undefined },
  secret: string,
): Delivery {
  const byName = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return new Webhook(secret).verify(body, byName as Record<string, string>) as Delivery; // as we sent it
}
