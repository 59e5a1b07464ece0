import { Hono } from 'hono';
import { operatorIn } from '../../../core/accounts/accounts.ts';
import { partHeader } from '../../../core/platform/cells.ts';
import { type App, ok } from '../../../core/platform/http/context.ts';
import { accept } from './arrive.ts';

/** For a router: does a part of a move here. */
export const moveRoutes = new Hono<App>().put('/accounts/:id/move', async (c) => {
  c.set('caller', operatorIn(c.req.param('id'))); // for the log
  await accept(c.env, c.req.header(partHeader) ?? '', c.req.raw);
  return ok(c, 'OK', null);
});
