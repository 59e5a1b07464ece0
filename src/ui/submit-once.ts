import { createMiddleware } from 'hono/factory';
import { validate as isUuid } from 'uuid';
import type { Caller } from '../core/platform/db/guard.ts';
import type { App, Context } from '../core/platform/http/context.ts';
import { claimForm, sentAlready } from '../people/sent-forms.ts';
import { wasSent } from '../people/was-sent.ts';
import { added } from './added.ts';
import { done, readForm } from './submit.ts';

/** Lets each form of people who are signed in take effect once. */
export const formsOnce = createMiddleware<App>(async (c, next) => {
  if (c.req.method !== 'POST') return next();
  const response = await submitOnce(c, c.get('caller'), resultOf(c), async () => {
    await next();
    return c.res;
  });
  if (response === c.res) return;
  c.res = undefined; // otherwise its headers stay
  c.res = response;
});

/**
 * Handles a form, which takes effect once: see `asCaller`. If it is sent again within an hour, in whatever isolate,
 * the page says so, and leads to its `result`.
 */
export async function submitOnce(
  c: Context,
  caller: Caller,
  result: string,
  work: () => Promise<Response>,
): Promise<Response> {
  const key = (await readForm(c)).value('key');
  const form = isUuid(key) ? { key, requestId: c.get('requestId') } : undefined;
  if (form) caller.alongside = (db) => claimForm(db, caller.accountId, form);
  const outcome = await work().catch((error: unknown) => ({ error }));
  if (outcome instanceof Response && outcome.status < 400) return outcome;
  // Their session may have ended.
  if (form && (await wasSent(c.env, caller, form).catch(() => false)))
    return done(c, result, sentAlready, 'warn');
  if (outcome instanceof Response) return outcome;
  throw outcome.error;
}

/** The end of a path that is a form's own, and what a form has removed by then. */
const ofForm = /\/(?:new|own|limited|edit|role|revoke|[^/]+\/(?:delete|remove))$/;

/** The nearest page with the result of the form at this path. */
function resultOf(c: Context): string {
  const ofExtra = added(c, 'forms').flat();
  const end = ofExtra.find((one) => c.req.path.endsWith(`/${one}`));
  let path = end ? c.req.path.slice(0, -end.length - 1) : c.req.path.replace(ofForm, '');
  while (c.get('roleOf')?.('GET', path) === undefined) path = path.slice(0, path.lastIndexOf('/'));
  return path;
}
