/** Calls and seconds of each limiter, as in `wrangler.toml`; each purpose has its own. */
export const rateLimits = {
  /** Per API token, ingest key, portal session or connection whose provider's webhook calls. */
  TOKEN_LIMIT: { calls: 600, seconds: 60 },
  /** Per API token or ingest key of an account for which operators have raised the limit. */
  TOKEN_1200_LIMIT: { calls: 1200, seconds: 60 },
  TOKEN_2400_LIMIT: { calls: 2400, seconds: 60 },
  TOKEN_6000_LIMIT: { calls: 6000, seconds: 60 },
  /** Per client address: unrecognised credentials; with a connection's id: wrongly signed calls of its provider's webhook. */
  UNKNOWN_LIMIT: { calls: 100, seconds: 60 },
  /** Per client address: calls of providers' webhooks for an unknown connection, or wrongly signed. */
  PROVIDER_CALL_LIMIT: { calls: 1000, seconds: 60 },
  /** Per client address: wrong operator keys. */
  OPERATOR_LIMIT: { calls: 100, seconds: 60 },
  /** Per client address: calls of `/health`. */
  HEALTH_LIMIT: { calls: 100, seconds: 60 },
  /** Per client address, which may be an office: requests to sign in. */
  LINK_REQUEST_LIMIT: { calls: 300, seconds: 60 },
  /** Per email address: requests for sign-in links; and with the client's address: sign-ins at a provider. */
  SIGN_IN_LIMIT: { calls: 5, seconds: 60 },
  /** Per sign-in link: tries to use it. */
  LINK_LIMIT: { calls: 10, seconds: 60 },
  /** Per portal session: what causes calls or mail. Per connect link: requests. */
  ACTION_LIMIT: { calls: 20, seconds: 60 },
  /** Per account: what all of its people do that causes calls or mail. */
  ACCOUNT_ACTION_LIMIT: { calls: 60, seconds: 60 },
} as const;

export type Limiter = keyof typeof rateLimits;

/** The limiters of API tokens and ingest keys that operators can choose for an account; the first is usual. */
export const tokenLimiters = [
  'TOKEN_LIMIT',
  'TOKEN_1200_LIMIT',
  'TOKEN_2400_LIMIT',
  'TOKEN_6000_LIMIT',
] as const satisfies Limiter[];
