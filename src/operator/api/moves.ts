import * as v from 'valibot';
import { homeName } from '../../platform/homes/names.ts';
import { described, id, type Operation, time } from './operation.ts';

/* Moving accounts from one home to another. */

export const NewMove = v.object({
  to: v.pipe(v.string(), v.regex(homeName, 'must be the name of a home')),
});

const counted = v.pipe(v.number(), v.metadata({ type: 'integer', minimum: 0 }));

export const Move = v.object({
  accountId: id,
  from: v.string(),
  to: v.string(),
  state: v.picklist([
    'draining',
    'copying',
    'copying files',
    'switching',
    'opening',
    'cleaning up',
    'cancelling',
    'done',
    'cancelled',
  ]),
  rows: described(counted, 'How many rows there were to copy when it began.'),
  copied: counted,
  refusedForMs: counted,
  startedAt: time,
  problem: v.nullable(v.string()),
});
export type Move = v.InferOutput<typeof Move>;

export const MoveProgress = v.object({
  move: v.nullable(Move),
  estimate: v.optional(
    described(
      v.object({ rows: counted, seconds: counted }),
      'Of an account that is not being moved: for how long a move would refuse writes at most.',
    ),
  ),
});
export type MoveProgress = v.InferOutput<typeof MoveProgress>;

export const moveOperations = {
  showMove: {
    call: 'GET /accounts/:id/move',
    summary: "Show an account's move",
    description:
      'Null if the account is not being moved. Then `estimate` says for how many seconds a move would refuse its ' +
      'writes at most.',
    reply: MoveProgress,
  },
  moveAccount: {
    call: 'POST /accounts/:id/move',
    summary: 'Move an account to another home, or continue that for some seconds',
    description:
      'The service continues by itself each minute; calling this again and again is faster. Writes get 503 with ' +
      '`Retry-After` until the account lives in its new home; reads continue.',
    body: NewMove,
    reply: MoveProgress,
  },
  cancelMove: {
    call: 'POST /accounts/:id/move/cancel',
    summary: 'Cancel a move, or continue that for some seconds',
    description: 'What was copied is deleted. After the switch it is too late: move the account back.',
    reply: MoveProgress,
  },
} satisfies Record<string, Operation>;
