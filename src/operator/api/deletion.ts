import * as v from 'valibot';
import type { Operation } from '../../extras/operation.ts';
import { count, described, id, time } from '../../extras/replies.ts';

/** The name must match, so that nobody deletes the wrong account by its id. */
export const AccountDeletion = v.object({ name: v.string(), now: v.optional(v.boolean(), false) });
export const ConnectionDeletion = v.object({ name: v.string() });

export const Deletion = v.object({
  id,
  kind: v.picklist(['account', 'connection', 'driver']),
  accountId: id,
  account: v.nullable(v.string()),
  requestedAt: time,
  dueAt: described(time, 'When it begins. Until then, activating an account cancels it.'),
  problem: described(
    v.nullable(v.string()),
    'Why it has failed. It is tried again every ten minutes.',
  ),
  step: v.nullable(v.string()),
  stepsDone: count,
  steps: count,
});

export const DeletionProgress = v.object({ deletion: v.nullable(Deletion) });
export type DeletionProgress = v.InferOutput<typeof DeletionProgress>;

export const deletionOperations = {
  deleteAccount: {
    call: 'POST /accounts/:id/deletion',
    summary: 'Suspend an account, and delete it in 30 days or at once',
    description: 'Until it begins, activating the account cancels it.',
    body: AccountDeletion,
    reply: DeletionProgress,
  },
  deleteConnection: {
    call: 'POST /connections/:id/deletion',
    summary: 'Delete a connection and its records',
    description:
      'The connection is unknown from this moment on. Its name is that of its provider if it has none.',
    body: ConnectionDeletion,
    reply: DeletionProgress,
  },
  eraseDriver: {
    call: 'POST /drivers/:id/erasure',
    summary: 'Erase a driver and every reference to them',
    description:
      'Their trips and events remain, without a driver. Later records of the driver are ignored.',
    reply: DeletionProgress,
  },
  listDeletions: {
    call: 'GET /deletions',
    summary: 'List deletions',
    reply: v.array(Deletion),
  },
  continueDeletion: {
    call: 'POST /deletions/:id/continue',
    summary: 'Continue a deletion for some seconds',
    description:
      'The service continues by itself each minute; this is faster. Null once nothing is left to do.',
    reply: DeletionProgress,
  },
} satisfies Record<string, Operation>;
