import { createMiddleware } from 'hono/factory';
import type { App, Context } from '../../platform/http/context.ts';
import { limit } from '../../platform/http/limits.ts';

/**
 * Limits what people do with a button and others pay for, such as tests, replays and mail: for each session, and for
 * the account as a whole. Stands in front of an action's handler, behind `signedIn`.
 *
 * @throws Refusal: rate limited
 */
export const limitActions = createMiddleware<App>(async (c, next) => {
  await limitAction(c);
  await next();
});

/** The same where only one of a form's buttons is such an action. @throws Refusal: rate limited */
export async function limitAction(c: Context): Promise<void> {
  const { hash, user } = c.get('session');
  await limit(c.env, 'ACTION_LIMIT', hash);
  await limit(c.env, 'ACCOUNT_ACTION_LIMIT', user.accountId);
}
