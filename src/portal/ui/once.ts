import { createMiddleware } from 'hono/factory';
import { findSentForm, takeShown } from '../../accounts/sent-forms.ts';
import { hashToken } from '../../accounts/tokens/format.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { type App, by, type Context } from '../../platform/http/context.ts';
import { done, flashIn, readForm, sayNext } from './submit.ts';

/** How long a form waits for the result of the same one, and how often it looks. */
const waitMs = 20_000;
const lookMs = 250;

/** Lets each form of people who are signed in take effect once. */
export const formsOnce = createMiddleware<App>(async (c, next) => {
  if (c.req.method !== 'POST') return next();
  const response = await once(c, c.get('caller'), async () => {
    await next();
    return c.res;
  });
  if (response === c.res) return;
  c.res = undefined; // otherwise its headers stay
  c.res = response;
});

/**
 * Handles a form once, in whatever isolates it arrives and whenever within an hour. Returns the
 * response to the first. Forms are the same if the same person sends the same fields to the same
 * address: each has a `key`, but somebody may go back, change a field, and send it again.
 */
export async function once(c: Context, caller: Caller, work: () => Promise<Response>): Promise<Response> {
  caller.form = { id: await idOf(c, caller), run: crypto.randomUUID(), result: {} };
  const outcome = await work().catch((error: unknown) => ({ error }));
  const to = outcome instanceof Response && outcome.headers.get('location');
  const isKept = to && (await keep(c, caller, to));
  const response = isKept ? outcome : ((await resultOfOther(c, caller)) ?? outcome);
  if (response instanceof Response) return response;
  throw response.error;
}

/** The identity of a form. One without a key is like no other. */
async function idOf(c: Context, caller: Caller): Promise<string> {
  const { fields, value } = await readForm(c);
  if (!value('key')) return crypto.randomUUID();
  const sender = 'sessionHash' in caller ? caller.sessionHash : 'link' in caller ? caller.link : '';
  const { pathname, search } = new URL(c.req.url);
  return hashToken(JSON.stringify([sender, pathname + search, fields]));
}

/** Keeps where a form led, for whoever sends it again. Returns false if another request handles it. */
const keep = (c: Context, caller: Caller, to: string): Promise<boolean> =>
  asCaller(c.env, caller, () => [], { result: { to, flash: c.get('said') } }).then(
    () => true,
    () => false,
  );

/** Where the same form led that another request handles; undefined if there is none. */
async function resultOfOther(c: Context, caller: Caller): Promise<Response | undefined> {
  const { form } = caller;
  for (;;) {
    const first = form && (await findSentForm(c.env, caller, form).catch(() => undefined)); // signed out meanwhile
    if (!first || first.run === form.run) return undefined;
    if (first.to) return sayNext(c, first.to, first.flash);
    if (Date.now() > first.at + waitMs) return sentAlready(c, first.shown !== undefined);
    await scheduler.wait(lookMs);
  }
}

/** For a form whose first request was interrupted: the page with its secret, or its own. */
function sentAlready(c: Context, hasSecret: boolean): Response {
  const said = 'This form was sent already.';
  const { path } = c.req;
  const isPage = !c.get('session') || c.get('roleOf')?.('GET', path);
  const page = isPage ? path : path.slice(0, path.lastIndexOf('/'));
  return hasSecret
    ? done(c, path, said, 'ok', true)
    : done(c, page, `${said} Check whether it took effect before you send it again.`, 'warn');
}

/** The secret that the page after a form shows, asked of D1 on that page alone. */
export async function shownOnce(c: Context): Promise<string | undefined> {
  const id = flashIn(c)?.shown;
  return id && takeShown(...by(c), id);
}
