import { cellInToken, isWellFormed } from '../accounts/tokens/format.ts';
import { cellIn } from '../platform/cells.ts';
import { Refusal } from '../platform/errors.ts';
import { sessionCookieOf } from '../platform/http/session-cookie.ts';

/** What a request names a cell by, and the cell that issued it: its account may have moved since. */
export type Named = {
  by: 'token' | 'session' | 'sign-in link' | 'connect link' | "provider's webhook";
  key: string;
  cell: string;
};

const places: { [path: string]: Named['by'] } = {
  'portal/sign-in': 'sign-in link',
  'portal/connect': 'connect link',
  providers: "provider's webhook",
};
const inPath = /^\/(portal\/sign-in|portal\/connect|providers)\/([^/]+)/;

/**
 * Which cell a request names, by its path, the portal's cookie, or its credential; undefined if none.
 *
 * @throws Refusal: unauthenticated, for a credential that is no service's
 */
export function cellOf(request: Request): Named | undefined {
  const { pathname } = new URL(request.url);
  const [, path = '', id] = inPath.exec(pathname) ?? [];
  const by = places[path];
  if (by && id) return { by, key: id, cell: cellIn(id) };
  if (/^\/portal(?:\/|$)/.test(pathname)) {
    const cookie = sessionCookieOf(request);
    return cookie ? { by: 'session', key: cookie, cell: cellIn(cookie) } : undefined;
  }
  const token = request.headers.get('x-api-key')?.trim();
  if (token === undefined) return undefined;
  if (!isWellFormed(token)) throw new Refusal({ kind: 'unauthenticated' });
  return { by: 'token', key: token, cell: cellInToken(token) };
}
