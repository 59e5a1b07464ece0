import type { Extra } from '../extra.ts';
import type { Handlers } from '../handlers.ts';
import type { operations } from './operations.ts';
import { continueMove, showMove } from './operator/leave.ts';
import { moveRoutes } from './operator/routes.ts';
import { unfinishedMoves } from './operator/unfinished.ts';

const handlers: Handlers<typeof operations> = {
  showMove: ({ env, id }) => showMove(env, id),
  moveAccount: ({ env, id, body }) => continueMove(env, id, body),
};

/** A move copies and removes the rows that a deletion deletes, so it is in the room of deletions. */
export const extra: Extra = { handlers, operatorRoutes: moveRoutes, unfinishedMoves };
