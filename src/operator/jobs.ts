import { pruneAudit } from '../core/accounts/audit/prune.ts';
import { pruneCredentials } from '../core/accounts/prune.ts';
import { pruneChanges } from '../core/fleet/record-changes.ts';
import type { Jobs, Starters } from '../core/platform/jobs/jobs.ts';
import { giveUp, prune as pruneDeliveries } from '../core/webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '../core/webhooks/notifications/remove.ts';
import { declared } from '../extras.ts';
import { pruneSessions } from '../people/prune.ts';
import { continueDeletions, deletionsAreDue } from './deletion/run.ts';
import { recordSize, sweepAndNote } from './health/service.ts';
import { reEncrypt } from './re-encrypt.ts';

/**
 * What the cron does itself each minute: it finds what is due, of which each webhook and connection is one row, and sends
 * messages.
 */
export const starters: Starters = Object.assign({ sweep: sweepAndNote }, ...declared('starters'));

/**
 * Jobs, of which each says what bounds it: the rows of a transaction, how accounts take turns, and what an account can
 * cause in all. Those that prune do so in chunks, which leave half of the time to others.
 */
export const jobs: Jobs = {
  /** 8 MB and 5,000 rows a step; the one that has waited longest; each connection, driver and the account once. */
  deletions: { isDue: deletionsAreDue, run: continueDeletions },
  /** The deliveries of a day. */
  'give up old deliveries': { run: giveUp },
  /** 5,000 rows a statement; the deliveries of a day. */
  'delete old deliveries': { run: pruneDeliveries },
  /** The records of a day. */
  'delete old notifications': { run: pruneNotifications },
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
  /** A row of each account, all at once. */
  'note the size of the database': { run: recordSize },
  ...Object.assign(
    {},
    ...declared('jobs').map((jobs) => (typeof jobs === 'function' ? jobs(declared) : jobs)),
  ),
};
