// Needs: delivery-log, filters, search

import { not } from 'drizzle-orm';
import type { Extra } from '../extra.ts';
import { ownerIn } from '../owner-of.ts';
import { alertsAreDue, sendAlerts } from './alerts.ts';
import { createConnection, isCovered, withWarning } from './coverage.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages/pages.ts';
import { recordAlertsAreDue, sendRecordAlerts } from './records.ts';
import { ruleOfFirst } from './rules.ts';
import { messageJob, messagesAreDue, sendMessages } from './sending.ts';
import {
  accidentAlerts,
  alertChannels,
  alertMessages,
  alertsSent,
  mailFeeds,
  mailRules,
} from './tables.ts';

export const extra: Extra = {
  handlers,
  pages,
  connect: async (...asked) => withWarning(await createConnection(...asked)),
  isUncovered: (env) => not(isCovered(env)),
  owners: { channels: ownerIn('channel', alertChannels) },
  people: { added: ruleOfFirst },
  jobs: {
    /** 1,000 webhooks of 20 accounts a step; 1,000 webhooks. */
    alerts: { isDue: alertsAreDue, run: sendAlerts },
    /** 250 records of 50 changes; three accounts a step, round by round; the records of a day, 20 people, 10 channels. */
    'alerts of accidents and events': { isDue: recordAlertsAreDue, run: sendRecordAlerts },
    /** 2,000 read, 20 sent a step; account by account; 200 a day, and 1,000 emails of all before ten of each. */
    [messageJob]: { isDue: messagesAreDue, run: sendMessages },
  },
  tables: [
    accidentAlerts.accountId,
    alertChannels.accountId,
    alertMessages.accountId,
    alertsSent.accountId,
    mailFeeds.accountId,
    mailRules.accountId,
  ],
  encrypted: [{ table: alertChannels, id: alertChannels.id, columns: [alertChannels.address] }],
};
