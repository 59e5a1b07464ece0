import { routePath } from 'hono/route';
import { log } from '../log.ts';
import type { Context } from './context.ts';

/** Writes the line of a request whose reply is ready; `began` is in milliseconds. */
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
