import { Hono } from 'hono';
import { beginMove, estimateMove } from '../../homes/moves/begin.ts';
import { cancelMove } from '../../homes/moves/end.ts';
import { continueMove } from '../../homes/moves/run.ts';
import { findMoveAnywhere } from '../../homes/moves/state.ts';
import { invalid } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import { readJson } from '../../platform/http/body.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { ok } from '../../platform/http/envelope.ts';
import { NewMove, presentMove } from './schema.ts';

/** Moving an account to another home: `move` begins it or goes on with it for some seconds, until it is done. */
export const moveRoutes = new Hono<App>()
  .get('/:id/move', showMove)
  .post('/:id/move', moveAccount)
  .post('/:id/move/cancel', cancel);

const id = (c: Context): string => c.req.param('id') ?? '';

async function showMove(c: Context) {
  const found = await findMoveAnywhere(c.env, id(c));
  if (found) return ok(c, 'Move', presentMove(found.from, found.move, found.move.state));
  return ok(c, 'Move', { move: null, estimate: await estimateMove(c.env, id(c)) });
}

async function moveAccount(c: Context) {
  const { to } = parse(NewMove, await readJson(c, 1024));
  const known = await findMoveAnywhere(c.env, id(c));
  const isOnItsWay = known !== undefined && known.move.home === to && known.move.state !== 'cancelling';
  if (!isOnItsWay || known.move.state === 'stopped') await beginMove(c.env, id(c), to);
  return goOn(c);
}

async function cancel(c: Context) {
  const found = await findMoveAnywhere(c.env, id(c));
  if (!found) throw invalid('The account is not being moved');
  if (found.move.state !== 'cancelling') await cancelMove(found.from, id(c));
  return goOn(c);
}

/** Works on the move for some seconds, and says how it stands. */
async function goOn(c: Context) {
  const found = await findMoveAnywhere(c.env, id(c));
  if (!found) throw invalid('The account is not being moved');
  const { move, last = found.move } = await continueMove(found.from, id(c));
  const ended = last.state === 'cancelling' ? 'cancelled' : 'done';
  return ok(c, 'Move', presentMove(found.from, move ?? last, move?.state ?? ended));
}
