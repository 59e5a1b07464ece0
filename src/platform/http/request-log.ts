import { routePath } from 'hono/route';
import { log } from '../log.ts';
import type { Context } from './context.ts';

/** Logs a request whose reply is ready; `began` is in milliseconds since 1970. */
export function logRequest(c: Context, began: number): void {
  const caller = c.get('caller');
  const records = c.get('records');
  log({
    level: 'info',
    kind: 'request',
    requestId: c.get('requestId'),
    method: c.req.method,
    route: routePath(c),
    status: c.res.status,
    ms: Date.now() - began,
    accountId: caller?.accountId ?? null,
    tokenId: caller && 'tokenId' in caller ? caller.tokenId : null,
    ...(records && { records }),
  });
}
