import { cellInToken, isWellFormed } from '../accounts/tokens/format.ts';
import { cellIn } from '../platform/cells.ts';
import { Refusal } from '../platform/errors.ts';
import { attemptCookieOf, sessionCookieOf } from '../platform/http/session-cookie.ts';

/** `token`, `session`, `sso` or the path; its value, and the cell that issued it. */
export type Named = { by: string; key: string; cell: string };

/** Sign-in links, connect links, and the addresses for providers' webhooks. */
const inPath = /^\/(portal\/sign-in|portal\/connect|providers)\/([^/]+)/;

/** What a request names a cell by, if anything. @throws Refusal: unauthenticated, for a malformed credential */
export function cellOf(request: Request): Named | undefined {
  const { pathname } = new URL(request.url);
  const [, by, id] = inPath.exec(pathname) ?? [];
  if (by && id) return { by, key: id, cell: cellIn(id) };
  const attempt = pathname === '/portal/sso' ? attemptCookieOf(request) : undefined;
  if (attempt) return { by: 'sso', key: attempt, cell: cellIn(attempt) };
  if (/^\/portal(?:\/|$)/.test(pathname)) {
    const cookie = sessionCookieOf(request);
    return cookie ? { by: 'session', key: cookie, cell: cellIn(cookie) } : undefined;
  }
  const token = request.headers.get('x-api-key')?.trim();
  if (token === undefined) return undefined;
  if (!isWellFormed(token)) throw new Refusal({ kind: 'unauthenticated' });
  return { by: 'token', key: token, cell: cellInToken(token) };
}
