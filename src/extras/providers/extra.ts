// Needs: alerts, evidence

import { withWarning } from '../alerts/coverage.ts';
import type { Extra } from '../extra.ts';
import { ownerIn } from '../owner-of.ts';
import { connectIfPulled } from './connect.ts';
import { needsCover } from './connected.ts';
import { handlers } from './handlers.ts';
import { healthAlertsAreDue, notifyOfSilence, sendHealthAlerts } from './health-alerts.ts';
import { metrics } from './metrics.ts';
import { pages } from './pages/pages.ts';
import { pull, startPulls } from './pull.ts';
import { providerRoutes } from './routes.ts';
import { removePull } from './store.ts';
import { connectLinks, pullRefusals, pulls } from './tables.ts';

export const extra: Extra = {
  handlers,
  owners: { 'connect-links': ownerIn('link', connectLinks) },
  connect: async (...asked) => {
    const connection = await connectIfPulled(...asked);
    return connection && withWarning(connection);
  },
  needsCover,
  metrics,
  routes: providerRoutes,
  pages,
  messages: {
    /** 500 records a call; five connections a message, 8 seconds each; the records of a day. */
    pull,
  },
  starters: { 'start pulls': startPulls },
  jobs: {
    /** 50 connections a step; 1,000 connections. */
    'health alerts': { isDue: healthAlertsAreDue, run: sendHealthAlerts },
    /** A row of each connection, all at once; 1,000 connections. */
    'note which connections are silent': { run: notifyOfSilence },
  },
  tables: [pulls.accountId, connectLinks.accountId, pullRefusals.connectionId],
  deletion: { connection: { first: removePull } },
  encrypted: [
    {
      table: pulls,
      id: pulls.connectionId,
      columns: [pulls.secrets, pulls.webhookSecret, pulls.session],
    },
  ],
};
