import type * as v from 'valibot';
import { livesHere } from '../../accounts/owner.ts';
import { beginMove, estimateMove } from '../../homes/moves/begin.ts';
import { cancelMove } from '../../homes/moves/end.ts';
import { continueMove } from '../../homes/moves/run.ts';
import { findMoveAnywhere, type Move } from '../../homes/moves/state.ts';
import { invalid } from '../../platform/errors.ts';
import { nameOf } from '../../platform/homes/homes.ts';
import type { Move as MoveReply, moveOperations } from '../api/moves.ts';
import type { Handlers } from '../handler.ts';

/** `moveAccount` begins a move or continues it for some seconds; call it until it is done. */
export const moveHandlers: Handlers<typeof moveOperations> = {
  async showMove({ env, id }) {
    const found = await findMoveAnywhere(env, id);
    if (found) return { move: shown(found.from, found.move, found.move.state) };
    const isKnown = await livesHere(env, 'account', id);
    return { move: null, ...(isKnown && { estimate: await estimateMove(env, id) }) };
  },

  async moveAccount({ env, id, body: { to } }) {
    const known = await findMoveAnywhere(env, id);
    const isOnItsWay = known !== undefined && known.move.home === to && known.move.state !== 'cancelling';
    if (!isOnItsWay) await beginMove(env, id, to);
    return goOn(env, id);
  },

  async cancelMove({ env, id }) {
    const found = await findMoveAnywhere(env, id);
    if (!found) throw invalid('The account is not being moved');
    if (found.move.state !== 'cancelling') await cancelMove(found.from, id);
    return goOn(env, id);
  },
};

async function goOn(env: Env, id: string) {
  const found = await findMoveAnywhere(env, id);
  if (!found) throw invalid('The account is not being moved');
  const { move, last = found.move } = await continueMove(found.from, id);
  const ended = last.state === 'cancelling' ? 'cancelled' : 'done';
  return { move: shown(found.from, move ?? last, move?.state ?? ended) };
}

/** A move in its current or final state. */
const shown = (from: Env, move: Move, state: v.InferInput<typeof MoveReply>['state']) => ({
  ...move,
  from: nameOf(from),
  to: move.home,
  state,
  rows: Math.max(move.total, move.copied),
  refusedForMs: (move.writableAt ?? Date.now()) - move.startedAt,
});
