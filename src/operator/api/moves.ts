import * as v from 'valibot';
import { cellName } from '../../platform/cells.ts';
import { count, described, id, type Operation } from './operation.ts';

/* Moving accounts from one cell to another. */

const Cell = v.pipe(v.string(), v.regex(cellName, 'must be the name of a cell'));

export const NewMove = v.object({
  to: Cell,
  cancel: v.optional(v.boolean(), false),
  done: v.optional(
    described(
      v.object({ step: v.string(), next: v.string(), problem: v.nullable(v.string()) }),
      'For the router: the `ask` that the other cell has done, if any.',
    ),
  ),
});
export type NewMove = v.InferOutput<typeof NewMove>;

export const Move = v.object({
  accountId: id,
  to: v.string(),
  state: v.picklist([
    'opening',
    'draining',
    'copying',
    'comparing',
    'copying files',
    'switching',
    'done',
    'cancelling',
    'cancelled',
  ]),
  rows: described(count, 'How many rows there were to copy when it began.'),
  copied: count,
  problem: described(v.nullable(v.string()), 'Why it was cancelled, unless operators did that.'),
});
export type Move = v.InferOutput<typeof Move>;

/** A file of the account's, by its key, and the hash of its contents. */
const File = v.object({ key: v.string(), md5: v.string(), move: v.string() });

export const MoveProgress = v.object({
  move: v.nullable(Move),
  estimate: v.optional(
    described(
      v.object({ rows: count, seconds: count }),
      'Of an account that is not being moved: for how long a move would refuse writes at most.',
    ),
  ),
  ask: v.optional(
    described(
      v.object({ step: v.string(), next: v.string(), body: v.optional(v.string()), file: v.optional(File) }),
      'For the router: what the other cell has to do next.',
    ),
  ),
});
export type MoveProgress = v.InferInput<typeof MoveProgress>;

export const Arrival = v.object({
  task: v.picklist(['open', 'copy', 'compare', 'activate', 'clear']),
  move: described(v.string(), 'Which move: what is sent late for an earlier one is refused.'),
  from: Cell,
  account: v.optional(v.object({ name: v.string(), units: v.string(), createdAt: v.number() })),
  keys: v.optional(v.array(v.object({ id: v.string(), sum: v.string() }))),
  hasFiles: v.optional(v.boolean()),
  table: v.optional(v.string()),
  columns: v.optional(v.array(v.string())),
  rows: v.optional(v.array(v.array(v.nullable(v.union([v.string(), v.number()]))))),
});
export type Arrival = v.InferOutput<typeof Arrival>;

export const Arrived = v.object({ problem: v.nullable(v.string()) });

export const moveOperations = {
  showMove: {
    call: 'GET /accounts/:id/move',
    summary: "Show an account's move",
    description:
      'Ask the cell that the account leaves. Null if it is not being moved. Then `estimate` says for how many seconds ' +
      'a move would refuse its writes at most.',
    reply: MoveProgress,
  },
  moveAccount: {
    call: 'POST /accounts/:id/move',
    summary: 'Move an account to another cell, or cancel that, for some seconds',
    description:
      'The router in front of the cells copies from one to the other. It takes the operator key of the cell `to` in the ' +
      'header `Fleet-To-Authorization`, as `Bearer`. Call it until the state is `done` or `cancelled`. Writes get 503 ' +
      'with `Retry-After` meanwhile; reads continue. After the switch it is too late to cancel: move the account back.',
    body: NewMove,
    reply: MoveProgress,
  },
  acceptArrival: {
    call: 'POST /accounts/:id/arrival',
    summary: 'Accept a part of an account that is moved here',
    description: 'For the router. Safe to repeat.',
    body: Arrival,
    maxBytes: 8 * 1024 * 1024,
    reply: Arrived,
  },
} satisfies Record<string, Operation>;
