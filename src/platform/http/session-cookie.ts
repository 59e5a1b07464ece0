import { parse } from 'hono/utils/cookie';

export const sessionCookie = 'session';

/** A `__Host-` cookie needs https, which only local runs lack. */
export const cookieOptions = ({ url }: Request): { prefix?: 'host' } =>
  new URL(url).protocol === 'https:' ? { prefix: 'host' } : {};

/** The session's cookie of a request, with the name of its cell. */
export const sessionCookieOf = (request: Request): string | undefined => cookieOf(request, sessionCookie);

/** The cookie of a sign-in that has been sent to a provider, with the name of its cell. */
export const attemptCookie = 'sso';
export const attemptCookieOf = (request: Request): string | undefined => cookieOf(request, attemptCookie);

function cookieOf(request: Request, cookie: string): string | undefined {
  const name = cookieOptions(request).prefix ? `__Host-${cookie}` : cookie;
  return parse(request.headers.get('Cookie') ?? '', name)[name];
}
