import * as v from 'valibot';
import { type Move, states } from '../../homes/moves/state.ts';
import { timestamp } from '../../platform/fields.ts';
import { homeName, nameOf } from '../../platform/homes/homes.ts';

export const NewMove = v.object({
  /** The name of the home where the account is to live. */
  to: v.pipe(v.string(), v.regex(homeName, 'must be the name of a home')),
});

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const MoveOutput = v.object({
  accountId: v.pipe(v.string(), v.uuid()),
  from: v.string(),
  to: v.string(),
  /** `done` and `cancelled` are returned once, by the call that has come to the end. */
  state: v.picklist([...states, 'done', 'cancelled']),
  /** How many rows there were to copy when it began, and how many have been. */
  rows: count,
  copied: count,
  /** For how long writes have been refused, so far. */
  refusedForMs: count,
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Why it has stopped. */
  problem: v.nullable(v.string()),
});
export type MoveOutput = v.InferOutput<typeof MoveOutput>;

/** How an account's move stands; null if it is not being moved. */
export const MoveProgress = v.object({
  move: v.nullable(MoveOutput),
  /** Of an account that is not being moved: how many rows it has, and for how long a move would refuse its writes. */
  estimate: v.optional(v.object({ rows: count, seconds: count })),
});

/** Presents a move, with the state that it is in or has come to. */
export const presentMove = (
  from: Env,
  move: Move,
  state: MoveOutput['state'],
): v.InferOutput<typeof MoveProgress> => ({
  move: {
    accountId: move.accountId,
    from: nameOf(from),
    to: move.home,
    state,
    rows: Math.max(move.total, move.copied),
    copied: move.copied,
    refusedForMs: (move.writableAt ?? Date.now()) - move.startedAt,
    startedAt: timestamp(move.startedAt),
    problem: move.problem,
  },
});
