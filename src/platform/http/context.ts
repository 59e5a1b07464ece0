import type { Context as HonoContext } from 'hono';
import type { Caller } from '../db/guard.ts';

/** What middleware passes on to routes. Features add their own variables to Hono's `ContextVariableMap`. */
export type App = {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** Set once the request's credential has been read. */
    caller: Caller;
    /** On `/ingest`: the number of records by result, for the log. */
    records?: { accepted: number; unchanged: number; rejected: number };
  };
};

export type Context = HonoContext<App>;
