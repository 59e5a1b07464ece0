import { pruneAudit } from '../core/accounts/audit/prune.ts';
import { pruneCredentials } from '../core/accounts/prune.ts';
import { pruneChanges } from '../core/fleet/record-changes.ts';
import type { Jobs } from '../core/platform/jobs/jobs.ts';
import { giveUp, prune as pruneDeliveries } from '../core/webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '../core/webhooks/notifications/remove.ts';
import { alertsAreDue, sendAlerts } from '../extras/alerts/alerts.ts';
import { recordAlertsAreDue, sendRecordAlerts } from '../extras/alerts/records.ts';
import { messageJob, messagesAreDue, sendMessages } from '../extras/alerts/sending.ts';
import { archive } from '../extras/archive/job.ts';
import { copiesAreDue, startCopies } from '../extras/evidence/copy.ts';
import { pruneJob } from '../extras/evidence/evidence.ts';
import { pruneEvidence } from '../extras/evidence/remove.ts';
import { exportJob } from '../extras/exports/exports.ts';
import { prepareExports, pruneExports } from '../extras/exports/run.ts';
import {
  healthAlertsAreDue,
  notifyOfSilence,
  sendHealthAlerts,
} from '../extras/providers/health-alerts.ts';
import { startPulls } from '../extras/providers/pull.ts';
import { checkDomains } from '../extras/single-sign-on/dns.ts';
import { sendSummaries, summariesAreDue } from '../extras/summaries/summaries.ts';
import { countEvents, countsAreDue } from '../extras/trends/job.ts';
import { pruneSessions } from '../people/prune.ts';
import { continueDeletions, deletionsAreDue } from './deletion/run.ts';
import { recordSize, sweepAndNote } from './health/service.ts';
import { reEncrypt } from './re-encrypt.ts';

/**
 * What the cron does itself each minute: it finds what is due, of which each webhook and connection is one row, and sends
 * messages.
 */
export const starters = { sweep: sweepAndNote, 'start pulls': startPulls };

/**
 * Jobs, of which each says what bounds it: the rows of a transaction, how accounts take turns, and what an account can
 * cause in all. Those that prune do so in chunks, which leave half of the time to others.
 */
export const jobs: Jobs = {
  /** 8 MB and 5,000 rows a step; the one that has waited longest; each connection, driver and the account once. */
  deletions: { isDue: deletionsAreDue, run: continueDeletions },
  /** A step counts the events of an hour, 10,000 at most; 20 accounts take turns. */
  trends: { isDue: countsAreDue, run: countEvents },
  /** 1,000 webhooks of 20 accounts a step; 1,000 webhooks. */
  alerts: { isDue: alertsAreDue, run: sendAlerts },
  /** 250 records of 50 changes; three accounts a step, round by round; the records of a day, 20 people, 10 channels. */
  'alerts of accidents and events': { isDue: recordAlertsAreDue, run: sendRecordAlerts },
  /** 50 connections a step; 1,000 connections. */
  'health alerts': { isDue: healthAlertsAreDue, run: sendHealthAlerts },
  /** 20 people a step; each person once a day. */
  summaries: { isDue: summariesAreDue, run: sendSummaries },
  /** 2,000 read, 20 sent a step; account by account; 200 a day, and 1,000 emails of all before ten of each. */
  [messageJob]: { isDue: messagesAreDue, run: sendMessages },
  /** Two rows of each account with files to be copied; an invocation for each account; 5,000 files a day. */
  evidence: { isDue: copiesAreDue, run: startCopies },
  /** 500 records a page, 20 pages a piece; a piece of each export; 5 exports a day, 2,000,000 records each. */
  [exportJob]: { run: prepareExports },
  /** 1,000 records a statement, 6 MB a file; a day of 20 accounts that chance chooses; the records of a day. */
  archive: { run: archive },
  /** The deliveries of a day. */
  'give up old deliveries': { run: giveUp },
  /** 5,000 rows a statement; the deliveries of a day. */
  'delete old deliveries': { run: pruneDeliveries },
  /** The records of a day. */
  'delete old notifications': { run: pruneNotifications },
  /** 5 exports a day. */
  'delete expired exports': { run: pruneExports },
  /** 500 files a step; an account after the other; 20 files of each accident. */
  [pruneJob]: { run: pruneEvidence },
  /** 600 calls a minute for each ingest key. */
  'delete old changes': { run: pruneChanges },
  /** 20 tokens. */
  'delete expired credentials': { run: pruneCredentials },
  /** 5 links an address, 20 forms a minute for each session. */
  'delete expired sessions': { run: pruneSessions },
  /** What people change: 20 a minute for each session. */
  'delete old audit entries': { run: pruneAudit },
  /** 200 rows a step; 1,000 webhooks and connections. */
  're-encrypt': { run: reEncrypt },
  /** 20 domains a step; each once a week, or once a day while its record is not found; 10 domains. */
  'check sign-in domains': { run: checkDomains },
  /** A row of each connection, all at once; 1,000 connections. */
  'note which connections are silent': { run: notifyOfSilence },
  /** A row of each account, all at once. */
  'note the size of the database': { run: recordSize },
};
