import { pruneAudit } from '../accounts/audit/prune.ts';
import { pruneCredentials } from '../accounts/prune.ts';
import { archive } from '../fleet/archive/job.ts';
import { exportJob } from '../fleet/exports/exports.ts';
import { prepareExports, pruneExports } from '../fleet/exports/run.ts';
import { pruneChanges } from '../fleet/record-changes.ts';
import { countEvents, countsAreDue } from '../fleet/trends/job.ts';
import type { Job, Jobs } from '../platform/jobs/jobs.ts';
import { reEncrypt } from '../platform/jobs/re-encrypt.ts';
import { healthAlertsAreDue, notifyOfSilence, sendHealthAlerts } from '../providers/health-alerts.ts';
import { startPulls } from '../providers/pull.ts';
import { alertsAreDue, sendAlerts } from '../webhooks/alerts/alerts.ts';
import { recordAlertsAreDue, sendRecordAlerts } from '../webhooks/alerts/records.ts';
import { messageJob, messagesAreDue, sendMessages } from '../webhooks/alerts/sending.ts';
import { giveUp, prune as pruneDeliveries, sweep } from '../webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '../webhooks/notifications/remove.ts';
import { addUpWaits } from '../webhooks/service-levels/add-up.ts';
import { continueDeletions, deletionsAreDue } from './deletion/run.ts';
import { recordSize } from './health/service.ts';

/** What the cron does itself each minute: it finds what is due, and sends messages. */
export const starters = { sweep, 'start pulls': startPulls };

const whenDue = (isDue: Extract<Job, { every: 'minute' }>['isDue'], run: Job['run']): Job => ({
  every: 'minute',
  isDue,
  run,
});
const hourly = (run: Job['run']): Job => ({ every: 'hour', run });

export const jobs: Jobs = {
  deletions: whenDue(deletionsAreDue, continueDeletions),
  trends: whenDue(countsAreDue, countEvents),
  alerts: whenDue(alertsAreDue, sendAlerts),
  'alerts of accidents and events': whenDue(recordAlertsAreDue, sendRecordAlerts),
  'health alerts': whenDue(healthAlertsAreDue, sendHealthAlerts),
  [messageJob]: whenDue(messagesAreDue, sendMessages),
  [exportJob]: hourly(prepareExports),
  archive: hourly((env, now, budget) => archive(env, now, budget)),
  'give up old deliveries': hourly(giveUp),
  'service levels': hourly(addUpWaits),
  'delete old deliveries': hourly(pruneDeliveries),
  'delete old notifications': hourly(pruneNotifications),
  'delete expired exports': hourly(pruneExports),
  'delete old changes': hourly(pruneChanges),
  'delete expired credentials': hourly(pruneCredentials),
  'delete old audit entries': hourly(pruneAudit),
  're-encrypt': hourly(reEncrypt),
  'note which connections are silent': hourly(notifyOfSilence),
  'note the size of the database': hourly(recordSize),
};
