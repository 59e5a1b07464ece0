import { parse } from 'hono/utils/cookie';

export const sessionCookie = 'session';

/** A `__Host-` cookie needs https, which only local runs lack. */
export const cookieOptions = ({ url }: Request): { prefix?: 'host' } =>
  new URL(url).protocol === 'https:' ? { prefix: 'host' } : {};

/** The session's cookie of a request, with the name of its cell. */
export const sessionCookieOf = (request: Request): string | undefined =>
  cookieOf(request, sessionCookie);

/** The cookie of a sign-in that has been sent to a provider: a browser may have several under way. */
export const attemptCookie = (state: string): string => `${attemptPrefix}${state.slice(0, 16)}`;
const attemptPrefix = 'sso-';

/** The cookie of the sign-in whose response this is, with the name of its cell. */
export const attemptCookieOf = (request: Request): string | undefined =>
  cookieOf(request, attemptCookie(new URL(request.url).searchParams.get('state') ?? ''));

/** How many sign-ins a browser has under way at most. */
export const maxAttempts = 5;

/** The names of cookies of earlier sign-ins, of which there would be too many with another. */
export const attemptsToForget = (request: Request): string[] =>
  Object.keys(parse(request.headers.get('Cookie') ?? ''))
    .map((name) => name.replace('__Host-', ''))
    .filter((name) => name.startsWith(attemptPrefix))
    .slice(0, 1 - maxAttempts);

function cookieOf(request: Request, cookie: string): string | undefined {
  const name = cookieOptions(request).prefix ? `__Host-${cookie}` : cookie;
  return parse(request.headers.get('Cookie') ?? '', name)[name];
}
