import type { Context as HonoContext } from 'hono';
import { routePath } from 'hono/route';
import { versionHeader } from '../cells.ts';
import type { Caller, Reader } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { Refusal } from '../errors.ts';
import { log } from '../log.ts';

/** What middleware passes on to routes. Features add their own variables to Hono's `ContextVariableMap`. */
export type App = {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** Set once the request is authenticated. */
    caller: Caller;
    /** How the lists of this request are read, where that is not as usual. */
    reader?: () => Reader | undefined;
    /** On `/ingest`: the number of records by result, for the log. */
    records?: { accepted: number; unchanged: number; rejected: number };
    /** In a router: the cell that was asked last. */
    cell?: string;
  };
};

export type Context = HonoContext<App>;

/** Redirects a browser to `path` with a GET, so that reloading does not send a form twice. */
export const seeOther = (c: Context, path: string): Response => c.redirect(path, 303);

/** For whom a service is asked: its first arguments. */
export const by = (c: Context): [Env, Caller] => [c.env, c.get('caller')];

/** @throws Refusal: not found, if it is missing, or another account's */
export function orNotFound<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Refusal({ kind: 'not found' });
  return thing;
}

/** What the id in the path names. @throws Refusal: not found, also for another account's */
export const inPath = async <T>(
  c: Context,
  find: (env: Env, caller: Caller, id: string) => Promise<T | undefined>,
): Promise<T> => orNotFound(await find(...by(c), c.req.param('id') ?? ''));

/** Logs a request; `began` is in milliseconds since 1970. */
export function logRequest(c: Context, began: number): void {
  const caller = c.get('caller');
  const records = c.get('records');
  const cell = c.get('cell');
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
    ...(cell !== undefined && { cell }),
    ...(records && { records }),
  });
}

/** The version of the API, sent as `API-Version` with each response. A breaking change needs a new one. */
export const apiVersion = '2026-11-29';

/** Gives a request its id, and its response the headers of everything that we respond. */
export function identify(c: Context): void {
  c.set('requestId', newId());
  c.header('X-Request-Id', c.get('requestId'));
  c.header('API-Version', apiVersion);
  c.header(versionHeader, c.env.VERSION?.id);
  c.header('Cache-Control', 'no-store');
  c.header('Strict-Transport-Security', 'max-age=31536000'); // which browsers ignore over http
}

/** Responds 200 with the envelope of success; `next` is present only when there is another page. */
export const ok = (c: Context, message: string, data: unknown, next?: string, more: object = {}) =>
  c.json({ status: 200, message, data, ...(next && { next }), ...more });

type OpenFile = {
  headers: Record<string, string>;
  readable: ReadableStream;
  written: Promise<void>;
};

/** A response of bytes, which `written` writes behind it. */
export function file(c: Context, { headers, readable, written }: OpenFile): Response {
  c.executionCtx.waitUntil(written);
  return c.body(readable, 200, headers);
}
