import type { Context as HonoContext } from 'hono';
import type { Caller } from '../db/database.ts';
import type { Session } from '../portal/sessions.ts';
import type { KnownToken } from '../tokens/service.ts';

/** What middleware hands down to the routes. */
export type App = {
  Bindings: Env;
  Variables: {
    requestId: string;
    caller: Caller;
    token: KnownToken;
    /** In the portal: who is signed in. */
    session: Session;
    /** On `/ingest`: what became of the records, for the log. */
    records?: { accepted: number; unchanged: number; rejected: number };
  };
};

export type Context = HonoContext<App>;
