// Needs: archive
import type { Extra } from '../extra.ts';
import { exportJob } from './exports.ts';
import { exportFolder } from './files.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages.tsx';
import { pruneExports, removeExports } from './remove.ts';
import { exportRoutes, operatorRoutes } from './routes.ts';
import { exportsAreDue, prepareExports } from './run.ts';
import { exports } from './tables.ts';

export const extra: Extra = {
  routes: exportRoutes,
  handlers,
  operatorRoutes,
  pages,
  jobs: {
    /** 500 records a page, 20 pages a piece; a piece of each export; 5 exports a day, 2,000,000 records each. */
    [exportJob]: { isDue: exportsAreDue, run: prepareExports },
    /** 5 exports a day. */
    'delete expired exports': { run: pruneExports },
  },
  tables: [exports.accountId],
  deletion: {
    account: { before: removeExports },
    connection: { after: removeExports },
    driver: { after: removeExports },
  },
  move: { folders: (accountId) => [exportFolder(accountId)] },
};
