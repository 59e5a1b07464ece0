import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import type { Extra } from '../extra.ts';
import { folderOf } from './bucket.ts';
import { handlers } from './handlers.ts';
import { archive } from './job.ts';
import { findAcross, readAcross } from './lists.ts';
import { eraseFromArchive, removeArchive } from './remove.ts';
import { archivedDays } from './tables.ts';

export const extra: Extra = {
  handlers,
  reads: { readPage: readAcross, findItem: findAcross },
  jobs: (declared) => ({
    /** 1,000 records a statement, 6 MB a file; a day of 20 accounts that chance chooses; the records of a day. */
    archive: {
      run: (env, now, budget) => archive(env, now, budget, declared('mayArchive')),
    },
  }),
  tables: [archivedDays.accountId],
  deletion: {
    account: {
      after: (env, { accountId }) => removeArchive(env, { accountId, connectionId: null }),
    },
    connection: {
      after: (env, { accountId, id }) => removeArchive(env, { accountId, connectionId: id }),
    },
    driver: {
      after: (env, { accountId, connectionId, id, cursor }, archived) =>
        eraseFromArchive(env, { accountId, connectionId }, id, cursor, ({ kind }, rows) =>
          archived(env, accountId, kind, rows),
        ),
    },
  },
  move: {
    folders: (accountId) => archiveKinds.map(({ name }) => folderOf({ kind: name, accountId })),
  },
};
