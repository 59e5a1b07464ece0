import { deleteCookie, setCookie } from 'hono/cookie';
import { refuseIfMoved } from '../../accounts/accounts.ts';
import { secretIn, withCell } from '../../accounts/secrets.ts';
import {
  findProvider,
  type Provider,
  providerSessionMs,
  signInByProvider,
} from '../../accounts/single-sign-on.ts';
import { config } from '../../platform/config.ts';
import { base64url, fromBase64url, seal, unseal } from '../../platform/crypto.ts';
import { minuteMs } from '../../platform/durations.ts';
import { invalid, refusalIn } from '../../platform/errors.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { attemptCookie, attemptCookieOf, cookieOptions } from '../../platform/http/session-cookie.ts';
import { startSession } from '../session/session.ts';
import { page } from '../ui/layout.tsx';
import { done } from '../ui/submit.ts';
import { addressOf, type Claims, claimsAt, verifiedEmail } from './provider.ts';

export const settingsPath = '/portal/settings/sign-in';

/** How long somebody may take at their provider. */
const attemptMs = 15 * minuteMs;

/** Where providers send people back to. */
export const redirectUri = (c: Context): string =>
  `${config(c.env).origin ?? new URL(c.req.url).origin}/portal/sso`;

/** The page that leads to a provider: browsers let no form of the portal redirect to another site. */
export async function goToProvider(c: Context, provider: Provider, email: string) {
  const to = await begin(c, provider, 'sign-in', email);
  c.header('Refresh', `0; url=${to}`);
  return page(
    c,
    { title: 'Signing in', lead: `You sign in at ${new URL(to).host}.` },
    <a class="btn btn-primary w-full" href={to}>
      Continue
    </a>,
  );
}

/** Begins a sign-in in this browser. Returns where it continues. @throws Refusal: invalid; unavailable */
export async function begin(c: Context, provider: Provider, purpose: 'sign-in' | 'test', email?: string) {
  const { accountId } = provider;
  const until = String(Date.now() + attemptMs);
  const sealed = await seal(c.env, attemptCookie, { accountId, purpose, until });
  const secret = base64url(new TextEncoder().encode(JSON.stringify(sealed)));
  setCookie(c, attemptCookie, withCell(c.env, secret), {
    ...cookieOptions(c.req.raw),
    ...{ httpOnly: true, sameSite: 'Lax', maxAge: attemptMs / 1000 },
  });
  return addressOf(c.env, { provider, secret, redirectUri: redirectUri(c) }, email);
}

/** Where a provider sends people back to: signs them in, or shows what a test returned. */
export async function comeBack(c: Context) {
  const secret = secretIn(attemptCookieOf(c.req.raw) ?? '');
  deleteCookie(c, attemptCookie, cookieOptions(c.req.raw));
  const { accountId, purpose, until } = await opened(c.env, secret);
  const isInTime = accountId && Number(until) > Date.now();
  const provider = isInTime ? await findProvider(c.env, { accountId }) : undefined;
  if (isInTime && !provider) await refuseIfMoved(c.env);
  if (!provider)
    throw invalid('This sign-in was used, has expired, or began in another browser. Start again.');
  const attempt = { provider, secret, redirectUri: redirectUri(c) };
  const confirm = () => claimsAt(c.env, c.req.url, attempt);
  if (purpose === 'test')
    return tested(c, async () => done(c, settingsPath, returned(provider, await confirm())));
  const email = verifiedEmail(provider, await confirm());
  startSession(c, await signInByProvider(c.env, provider.accountId, email), providerSessionMs);
  return seeOther(c, '/portal');
}

/** What `begin` has sealed, if anything. */
async function opened(env: Env, secret: string): Promise<Record<string, string>> {
  try {
    const sealed = JSON.parse(new TextDecoder().decode(fromBase64url(secret)));
    return await unseal(env, attemptCookie, sealed);
  } catch {
    return {};
  }
}

/** What a test shows. @throws Refusal: invalid, if nobody could sign in so */
function returned(provider: Provider, claims: Claims): string {
  const { email_verified, xms_edov = email_verified, sub } = claims;
  const email = verifiedEmail(provider, claims);
  return `The provider returned the address ${email}, verified: ${xms_edov}, subject: ${sub}.`;
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
