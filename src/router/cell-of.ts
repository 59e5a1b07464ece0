import { cellInToken, isWellFormed } from '../core/accounts/tokens/format.ts';
import { Refusal } from '../core/platform/errors.ts';
import { attemptCookieOf, sessionCookieOf } from '../people/http/session-cookie.ts';
import { cellIn } from './cells.ts';

/** `token`, `session`, `sso`, or the beginning of the path; its value, and the cell that issued it. */
export type Named = { by: string; key: string; cell: string };

/** The addresses for providers' webhooks. */
const inPath = /^\/(providers)\/([^/]+)/;

/** Sign-in links and connect links, whose query has their secret. */
const inQuery = /^\/(portal\/sign-in(?=\/link$)|portal\/connect(?=\/withdraw$|$))/;

/** What a request names a cell by, if anything. @throws Refusal: unauthenticated, for a malformed credential */
export function cellOf(request: Request): Named | undefined {
  const { pathname, searchParams } = new URL(request.url);
  const [, by, id = searchParams.get('secret')] =
    inPath.exec(pathname) ?? inQuery.exec(pathname) ?? [];
  if (by && id) return { by, key: id, cell: cellIn(id) };
  const attempt = pathname.startsWith('/portal/sso/') ? attemptCookieOf(request) : undefined;
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
