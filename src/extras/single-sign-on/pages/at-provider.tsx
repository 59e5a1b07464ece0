import { deleteCookie, setCookie } from 'hono/cookie';
import { refuseIfMoved } from '../../../core/accounts/accounts.ts';
import { config } from '../../../core/platform/config.ts';
import { base64url, fromBase64url, seal, unseal } from '../../../core/platform/crypto.ts';
import { minuteMs } from '../../../core/platform/durations.ts';
import { invalid, refusalIn } from '../../../core/platform/errors.ts';
import { type Context, seeOther } from '../../../core/platform/http/context.ts';
import { addressOf, limit } from '../../../core/platform/http/limits.ts';
import { encodeByProvider, providerHeader } from '../../../people/by-provider.ts';
import {
  attemptCookie,
  attemptCookieOf,
  attemptsToForget,
  cookieOptions,
} from '../../../people/http/session-cookie.ts';
import { secretIn, withCell } from '../../../people/secrets.ts';
import { page } from '../../../ui/layout.tsx';
import { startSession } from '../../../ui/session/signed-in.ts';
import { done } from '../../../ui/submit.ts';
import { recordName, textsAt } from '../dns.ts';
import {
  authorizationUrl,
  type Claims,
  claimsAt,
  stateOf,
  verificationIn,
  verifiedEmail,
} from '../provider.ts';
import { providerSessionMs } from '../save.ts';
import { signInByProvider, startAgain } from '../sign-in-by-provider.ts';
import { domainOf, findProvider, type Provider } from '../single-sign-on.ts';

export const settingsPath = '/portal/settings/sign-in';

/** How long somebody may take at their provider. */
const attemptMs = 15 * minuteMs;

/** What attempts are encrypted for. */
const purposeOfSeal = 'sso';

/** Where an account's provider sends people back to: no other provider can pass on what that returned. */
export const redirectUri = (c: Context, accountId: string): string =>
  `${config(c.env).origin ?? new URL(c.req.url).origin}/portal/sso/${accountId}`;

/**
 * The page that leads to the provider of an address, if it has one: browsers let no form of the portal redirect to another
 * site.
 */
export async function goToProvider(c: Context, email: string): Promise<Response | undefined> {
  const provider = await findProvider(c.env, { email });
  if (!provider) return undefined;
  const { account } = provider;
  c.header(providerHeader, encodeByProvider({ account }));
  await limit(c.env, 'SIGN_IN_LIMIT', `${addressOf(c)} ${email}`);
  const to = await begin(c, provider, 'sign-in', email);
  c.header(providerHeader, encodeByProvider({ account, to }));
  c.header('Refresh', `0; url=${to}`);
  return page(
    c,
    { title: 'Signing in', lead: `You sign in to ${account} at ${new URL(to).host}.` },
    <a class="btn btn-primary w-full" href={to}>
      Continue
    </a>,
  );
}

/** Begins a sign-in in this browser. Returns where it continues. @throws Refusal: invalid; unavailable */
export async function begin(
  c: Context,
  provider: Provider,
  purpose: 'sign-in' | 'test',
  email?: string,
) {
  const { accountId, issuer } = provider;
  const until = String(Date.now() + attemptMs);
  const sealed = await seal(c.env, purposeOfSeal, { accountId, issuer, purpose, until });
  const secret = base64url(new TextEncoder().encode(JSON.stringify(sealed)));
  for (const name of attemptsToForget(c.req.raw)) deleteCookie(c, name, cookieOptions(c.req.raw));
  setCookie(c, attemptCookie(await stateOf(secret)), withCell(c.env, secret), {
    ...cookieOptions(c.req.raw),
    ...{ httpOnly: true, sameSite: 'Lax', maxAge: attemptMs / 1000 },
  });
  const isTest = purpose === 'test';
  return authorizationUrl(
    c.env,
    { provider, secret, redirectUri: redirectUri(c, accountId), isTest },
    email,
  );
}

/** Where a provider sends people back to: signs them in, or shows what a test returned. */
export async function comeBack(c: Context) {
  const secret = secretIn(attemptCookieOf(c.req.raw) ?? '');
  const { accountId = '', issuer, purpose, until } = await opened(c.env, secret);
  const isItsAccount = accountId !== '' && accountId === c.req.param('account');
  if (!isItsAccount || Number(until) <= Date.now()) throw invalid(startAgain);
  const state = await stateOf(secret);
  await limit(c.env, 'LINK_LIMIT', state);
  deleteCookie(c, attemptCookie(state), cookieOptions(c.req.raw));
  const provider = await findProvider(c.env, { accountId });
  if (!provider) await refuseIfMoved(c.env);
  if (provider?.issuer !== issuer || !provider) throw invalid(startAgain);
  const isTest = purpose === 'test';
  const attempt = { provider, secret, redirectUri: redirectUri(c, accountId), isTest };
  const confirm = () => claimsAt(c.env, c.req.url, attempt);
  if (isTest)
    return tested(c, async () =>
      done(c, settingsPath, await returned(c.env, provider, await confirm())),
    );
  const claims = await confirm();
  const email = verifiedEmail(provider, claims);
  const session = await signInByProvider(c.env, accountId, {
    email,
    subject: String(claims.sub),
    attempt: state,
  });
  startSession(c, session, providerSessionMs);
  return seeOther(c, '/portal');
}

/** What `begin` has sealed, if anything. */
async function opened(env: Env, secret: string): Promise<Record<string, string>> {
  try {
    const sealed = JSON.parse(new TextDecoder().decode(fromBase64url(secret)));
    return await unseal(env, purposeOfSeal, sealed);
  } catch {
    return {};
  }
}

/** What a test shows. @throws Refusal: invalid, if nobody could sign in so */
async function returned(env: Env, provider: Provider, claims: Claims): Promise<string> {
  const email = verifiedEmail(provider, claims);
  const domain = domainOf(email);
  const said = `the address ${email}, verified: ${verificationIn(claims)}, subject: ${claims.sub}`;
  return `The provider returned ${said}. ${textsInWords(domain, await textsAt(env, domain))}`;
}

/** The TXT records of a domain, as an admin reads them. */
export function textsInWords(domain: string, texts: string[] | undefined): string {
  const name = recordName(domain);
  if (!texts) return `The DNS of ${domain} does not respond.`;
  if (texts.length === 0) return `${name} has no TXT record.`;
  return `${name} has the TXT record ${texts.map((text) => `“${text.slice(0, 80)}”`).join(', ')}.`;
}

/** Does a part of a test. What fails is shown in the settings. */
export async function tested(c: Context, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const { message } = { message: '', ...refusalIn(error)?.failure };
    if (!message) throw error;
    return done(c, settingsPath, message, 'bad');
  }
}
