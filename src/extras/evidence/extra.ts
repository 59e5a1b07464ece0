// Needs: archive
import type { Extra } from '../extra.ts';
import { copiesAreDue, copyEvidence, startCopies } from './copy.ts';
import { evidenceFolder, restartCopies } from './evidence.ts';
import { findDaysOf, keepEvidence, pruneJob } from './keep.ts';
import { pages } from './pages/pages.ts';
import { evidenceOfRecords } from './records.ts';
import { ofConnection, ofDriver, onTrips, pruneEvidence, removeEvidence } from './remove.ts';
import { evidenceRoutes } from './routes.ts';
import { evidence, evidenceDays } from './tables.ts';

export const extra: Extra = {
  routes: evidenceRoutes,
  pages,
  ingest: { evidence: evidenceOfRecords },
  accountFields: { usual: { evidenceDays: null }, find: findDaysOf },
  // As its body was parsed.
  changeAccount: async (env, caller, { evidenceDays }: { evidenceDays?: number | null }) => {
    if (evidenceDays !== undefined) await keepEvidence(env, caller, evidenceDays);
  },
  messages: {
    /** A row for each 5 MiB of a file; ten seconds of each account at a time; 20 files, 1 GB of each accident, 50 GB a day. */
    copy: copyEvidence,
  },
  jobs: {
    /** Two rows of each account with files to be copied; an invocation for each account; 5,000 files a day. */
    evidence: { isDue: copiesAreDue, run: startCopies },
    /** 500 files a step; an account after the other; 20 files of each accident. */
    [pruneJob]: { run: pruneEvidence },
  },
  tables: [evidence.accountId, evidenceDays.accountId],
  deletion: {
    account: { before: (env, deletion) => removeEvidence(env, deletion) },
    connection: {
      before: (env, deletion) => removeEvidence(env, deletion, ofConnection(deletion.id)),
    },
    driver: {
      before: (env, deletion) =>
        removeEvidence(env, deletion, ofDriver(deletion.id), { isRemembered: true }),
    },
    archived: async (env, accountId, kind, rows) =>
      kind === 'trips'
        ? removeEvidence(env, { accountId }, onTrips(rows), { isRemembered: true })
        : undefined,
  },
  // Copies that had begun are in the bucket that was left.
  move: { folders: (accountId) => [evidenceFolder(accountId)], arrived: restartCopies },
};
