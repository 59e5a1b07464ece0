import * as v from 'valibot';
import { cellName } from '../../core/platform/cells.ts';
import type { Operation } from '../operation.ts';
import { count, described, id } from '../replies.ts';

const done = v.object({ part: v.string(), problem: v.nullable(v.string()), isLast: v.boolean() });

export const NewMove = v.object({
  to: v.pipe(v.string(), v.regex(cellName, 'must be the name of a cell')),
  cancel: v.optional(v.boolean(), false),
  done: v.optional(described(done, 'For the router: the part that the other cell has done.')),
});
export type NewMove = v.InferOutput<typeof NewMove>;

const states = ['none', 'copying', 'switching', 'done', 'cancelling', 'cancelled'] as const;

export const Move = v.object({
  accountId: id,
  to: v.string(),
  state: described(v.picklist(states), '`none`: it is not moving.'),
  rows: described(count, 'How many rows there are to copy.'),
  seconds: described(count, 'For how long requests are refused at most.'),
  copied: count,
  problem: described(v.nullable(v.string()), 'Why it was cancelled, unless operators did that.'),
});
export type Move = v.InferOutput<typeof Move>;

export const tag = ['Moves', 'Moving accounts from one cell to another.'] as const;

export const operations = {
  showMove: {
    call: 'GET /accounts/:id/move',
    summary: "Show an account's move, or what one would take",
    description: 'Ask the cell that the account leaves.',
    reply: Move,
  },
  moveAccount: {
    call: 'POST /accounts/:id/move',
    summary: 'Move an account to another cell, or cancel that, for some seconds',
    description:
      'The router in front of the cells copies from one to the other. It takes the operator key of the cell `to` in the ' +
      'header `Fleet-To-Authorization`, as `Bearer`. Call it until the state is `done` or `cancelled`. Requests of ' +
      'the account get 503 with `Retry-After` meanwhile. After the switch it is too late to cancel: move the account back.',
    body: NewMove,
    reply: Move,
  },
} satisfies Record<string, Operation>;
