import { parse } from 'hono/utils/cookie';

export const sessionCookie = 'session';

/** A `__Host-` cookie is bound to this host and to https. Over http, which only local runs use, browsers refuse it. */
export const cookieOptions = ({ url }: Request): { prefix?: 'host' } =>
  new URL(url).protocol === 'https:' ? { prefix: 'host' } : {};

/** The session's cookie of a request, with the name of its cell. */
export function sessionCookieOf(request: Request): string | undefined {
  const name = cookieOptions(request).prefix ? `__Host-${sessionCookie}` : sessionCookie;
  return parse(request.headers.get('Cookie') ?? '', name)[name];
}
