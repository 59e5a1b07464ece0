import * as oauth from 'oauth4webapi';
import * as v from 'valibot';
import { hashToken } from '../../core/accounts/tokens/format.ts';
import { receiverProblem } from '../../core/platform/address.ts';
import { config } from '../../core/platform/config.ts';
import { invalid, Refusal } from '../../core/platform/errors.ts';
import { Email } from '../../core/platform/fields.ts';
import { parsedJson } from '../../core/platform/json.ts';
import { beginningOf } from '../../core/webhooks/deliveries/send/call-once.ts';
import { eitherWay, shown } from '../oauth-client.ts';
import type { Provider } from './single-sign-on.ts';

/** How long each call of a provider may take, and how much it may return. */
const timeoutMs = 5_000;
const maxBytes = 256 * 1024;

/** How far a provider's clock may be off. */
const toleranceSeconds = 60;

/**
 * A sign-in at a provider: what its response comes back to, and the secret that only this browser has. An admin who tests
 * is told what the provider itself says.
 */
type Attempt = { provider: Provider; redirectUri: string; secret: string; isTest: boolean };

/** Where the browser continues. `email` is the address that was typed. @throws Refusal: invalid; unavailable */
export const authorizationUrl = (env: Env, attempt: Attempt, email = ''): Promise<string> =>
  inWords(attempt, async () => {
    const { authorization_endpoint = '' } = await discover(env, attempt);
    refuseAddress(env, authorization_endpoint);
    const url = new URL(authorization_endpoint);
    const [state, nonce, verifier] = await partsOf(attempt);
    const query = {
      ...{
        client_id: attempt.provider.clientId,
        redirect_uri: attempt.redirectUri,
        response_type: 'code',
      },
      ...{ scope: 'openid email', state, nonce, login_hint: email, code_challenge_method: 'S256' },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    };
    for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
    return url.href;
  });

/** What a provider says of whoever came back to `url`. @throws Refusal: invalid; unavailable */
export const claimsAt = (env: Env, url: string, attempt: Attempt): Promise<Claims> =>
  inWords(attempt, async () => {
    const { clientId, secret } = attempt.provider;
    const client = { client_id: clientId, [oauth.clockTolerance]: toleranceSeconds };
    // Read again each time, as its keys are: they may have changed.
    const server = await discover(env, attempt);
    const calls = calling(env);
    const [state, nonce, verifier] = await partsOf(attempt);
    const sent = oauth.validateAuthResponse(server, client, new URL(url), state);
    const { redirectUri } = attempt;
    const grant = (inBody: boolean) => {
      const auth = inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
      return oauth.authorizationCodeGrantRequest(
        ...([server, client, auth, sent, redirectUri, verifier, calls] as const),
      );
    };
    // Providers list ways that a client may not use.
    const inBody =
      server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ?? false;
    const { last: response } = await eitherWay(inBody, grant, refusesClient);
    const expected = { expectedNonce: nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
    await oauth.validateApplicationLevelSignature(server, response, calls);
    const claims: Claims = oauth.getValidatedIdTokenClaims(tokens) ?? {};
    if (isComplete(claims) || !server.userinfo_endpoint) return claims;
    const more = await oauth.userInfoRequest(server, client, tokens.access_token, calls);
    return oauth.processUserInfoResponse(server, client, String(claims.sub), more);
  });

/** What is read of what a provider says; `xms_edov` is Entra's way to say that an address is verified. */
export type Claims = {
  [claim in 'sub' | 'email' | 'email_verified' | 'xms_edov' | 'hd']?: unknown;
};

/** Whether a document says of an address whether it is verified: neither is taken from another one. */
const isComplete = ({ email, ...claims }: Claims): boolean =>
  Boolean(email) && verificationIn(claims) !== undefined;

export const verificationIn = ({ email_verified, xms_edov }: Claims): unknown =>
  email_verified ?? xms_edov ?? undefined;

async function refusesClient(response: Response): Promise<boolean> {
  if (response.status !== 400 && response.status !== 401) return false;
  const { error } = Object(parsedJson(await response.clone().text()));
  return response.status === 401 || error === 'invalid_client' || error === 'unauthorized_client';
}

/** The verified address in what a provider says. @throws Refusal: invalid */
export function verifiedEmail(
  { issuer }: Pick<Provider, 'issuer'>,
  { email, hd, ...claims }: Claims,
): string {
  if (!email)
    throw invalid(
      'The provider did not return an email address. Configure it to send the claim “email”.',
    );
  const address = v.safeParse(Email, email);
  if (!address.success)
    throw invalid('The provider returned something other than an email address.');
  // What only looks like another address is not that one.
  if (String(email).replace(/[A-Z]/g, (letter) => letter.toLowerCase()) !== address.output)
    throw invalid(
      `The provider returned ${address.output} in a different spelling, which could be another person’s address.`,
    );
  if (![true, 'true', 1].some((yes) => yes === verificationIn(claims)))
    throw invalid(
      `The provider has not verified ${address.output}: its claim “email_verified” is not true.`,
    );
  // A private Google account can have any address.
  if (URL.parse(issuer)?.host === 'accounts.google.com' && !hd)
    throw invalid(`${address.output} is a private Google account, and not your company’s.`);
  return address.output;
}

/** By which the response finds its attempt. */
export const stateOf = (secret: string): Promise<string> => hashToken(`state ${secret}`);

/** State, nonce and PKCE's verifier, derived from what only the browser has. */
const partsOf = ({ secret }: Attempt) =>
  Promise.all([stateOf(secret), hashToken(`nonce ${secret}`), hashToken(`PKCE ${secret}`)]);

async function discover(
  env: Env,
  { provider: { issuer } }: Attempt,
): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(new URL(issuer), calling(env));
  if (!response.ok)
    throw invalid(`No OpenID provider is at ${issuer}: it returns ${response.status}.`);
  return oauth.processDiscoveryResponse(new URL(issuer), response);
}

/** As for receivers: nothing private is called. */
function refuseAddress(env: Env, url: string): void {
  const { origin = '', allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(url, { allowLoopback, ownHost: URL.parse(origin)?.hostname }))
    throw invalid('The provider has an address that is not a public https address.');
}

type Options = oauth.CustomFetchOptions<string, URLSearchParams | undefined>;

const calling = (env: Env) => ({
  [oauth.customFetch]: async (url: string, { method, headers, body: sent }: Options) => {
    refuseAddress(env, url);
    const [body, signal] = [sent ?? null, AbortSignal.timeout(timeoutMs)];
    const init = { method, headers, body, signal, redirect: 'manual' as const };
    const response = await fetch(url, init).catch(() => undefined);
    const text = response && (await beginningOf(response, maxBytes, timeoutMs));
    if (!response || response.status >= 500) throw new Refusal(down);
    const { status } = response;
    const type = response.headers.get('content-type') ?? '';
    return new Response(text || null, { status, headers: { 'content-type': type } });
  },
});

const message =
  'Your company’s sign-in does not respond. Try again, or ask the admin who can use an emailed link.';
const down = { kind: 'unavailable', retryAfter: 30, message } as const;

/** What is wrong by the claim, field or code that oauth4webapi names. */
const causes = new Map<string, string>(
  Object.entries({
    nonce: 'The response belongs to another sign-in. Start again.',
    state: 'The response belongs to another sign-in. Start again.',
    iss: 'The response is from a different issuer than the one in the settings.',
    issuer: 'The provider’s issuer differs from the one in the settings.',
    aud: 'The response is for another client ID.',
    [oauth.JWT_TIMESTAMP_CHECK]: 'The provider’s clock is off by more than a minute.',
    [oauth.KEY_SELECTION]: 'The response is signed by a key that the provider does not publish.',
    invalid_client:
      'The provider refuses the client ID or its secret. Enter them again under Settings → Sign-in.',
    invalid_grant:
      'The provider no longer accepts this sign-in, which was used or has expired. Start again.',
    access_denied: 'The provider did not let you in.',
  }),
);

/** Does something, and says in words for people what a provider does wrong. @throws Refusal: invalid */
async function inWords<T>({ isTest, provider }: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemOf(error, isTest ? provider : undefined);
  }
}

/** What oauth4webapi throws, in words for people, or for whoever tests a provider; other errors stay as they are. */
export function problemOf(error: unknown, tested?: Pick<Provider, 'clientId' | 'secret'>): unknown {
  // Keys and signatures that are none are a DOMException of crypto, and its own error for an argument.
  const isTheirs = (code: unknown) =>
    error instanceof DOMException || /^(?:OAUTH|ERR_INVALID_ARG)_/.test(String(code));
  if (!(error instanceof Error && 'code' in error && isTheirs(error.code))) return error;
  const {
    claim,
    attribute,
    body,
  }: { claim?: string; attribute?: string; body?: { issuer?: string } } = Object(error.cause);
  const said = 'error' in error ? String(error.error) : /"(state|iss)"/.exec(error.message)?.[1];
  const names = [said, claim, attribute, String(error.code)];
  const known = names.flatMap((name) => causes.get(name ?? '') ?? [])[0];
  const word = /^[\w.-]{1,60}$/.test(said ?? '') ? said : error.message;
  const own =
    attribute === 'issuer' ? body?.issuer : 'error_description' in error && error.error_description;
  const says = tested && shown(own, { ...tested, clientSecret: tested.secret });
  return invalid(
    (known ?? `Unexpected response from the provider: ${word}.`) +
      (says ? ` It says: “${says}”.` : ''),
  );
}
