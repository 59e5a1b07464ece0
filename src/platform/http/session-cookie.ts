import { parse } from 'hono/utils/cookie';

export const sessionCookie = 'session';

/** A `__Host-` cookie needs https, which only local runs lack. */
export const cookieOptions = ({ url }: Request): { prefix?: 'host' } =>
  new URL(url).protocol === 'https:' ? { prefix: 'host' } : {};

/** The session's cookie of a request, with the name of its cell. */
export function sessionCookieOf(request: Request): string | undefined {
  const name = cookieOptions(request).prefix ? `__Host-${sessionCookie}` : sessionCookie;
  return parse(request.headers.get('Cookie') ?? '', name)[name];
}
