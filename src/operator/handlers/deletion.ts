import type { deletionOperations } from '../api/deletion.ts';
import { deleteAccount, deleteConnection, eraseDriver } from '../deletion/accept.ts';
import type { Deletion } from '../deletion/run.ts';
import { continueDeletion, stepNames } from '../deletion/run.ts';
import type { Handlers } from '../handler.ts';
import { listAllDeletions } from '../homes/lists.ts';

export const deletionHandlers: Handlers<typeof deletionOperations> = {
  deleteAccount: async ({ env, id, body }) => progress(await deleteAccount(env, id, body)),
  deleteConnection: async ({ env, caller, id, body }) =>
    progress(await deleteConnection(env, caller, id, body.name)),
  eraseDriver: async ({ env, caller, id }) => progress(await eraseDriver(env, caller, id)),
  listDeletions: async ({ env }) => (await listAllDeletions(env)).map(withSteps),
  continueDeletion: async ({ env, id }) => progress(await continueDeletion(env, id)),
};

const progress = (deletion: Deletion | undefined) => ({ deletion: deletion ? withSteps(deletion) : null });

/** Adds how many steps are done. */
const withSteps = (deletion: Deletion) => {
  const steps = stepNames(deletion.kind);
  const stepsDone = Math.max(0, steps.indexOf(deletion.step ?? ''));
  return { ...deletion, stepsDone, steps: steps.length };
};
