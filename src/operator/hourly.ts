import { pruneAudit } from '../accounts/audit/prune.ts';
import { pruneSessions, pruneSignInLinks } from '../accounts/prune.ts';
import { pruneTokens } from '../accounts/tokens/prune.ts';
import { forgetLately } from '../fleet/archive/lately.ts';
import { pruneChanges } from '../fleet/changes/prune.ts';
import { described, fault } from '../platform/log.ts';
import { resealCredentials } from '../providers/rotation.ts';
import { noteSilences } from '../providers/silence.ts';
import { giveUp, prune as pruneDeliveries } from '../webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '../webhooks/notifications/prune.ts';
import { resealHeaders } from '../webhooks/rotation.ts';
import { noteSize } from './health/size.ts';

/** What is done once an hour. Each works in bounded chunks and goes on where the hour before left off. */
const jobs = {
  'give up old deliveries': giveUp,
  'delete old deliveries': pruneDeliveries,
  'delete old notifications': pruneNotifications,
  'delete old changes': pruneChanges,
  'delete expired sign-in links': pruneSignInLinks,
  'delete expired sessions': pruneSessions,
  'delete dead tokens': pruneTokens,
  'delete old audit entries': pruneAudit,
  're-encrypt headers': resealHeaders,
  're-encrypt credentials': resealCredentials,
  'forget where old changes are archived': forgetLately,
  'note which connections are silent': noteSilences,
  'note the size of the database': noteSize,
} satisfies Record<string, (env: Env) => Promise<unknown>>;

/** Runs the jobs of an hour, one after the other. One that fails is logged, tried again in an hour, and stops no other. */
export async function hourly(env: Env): Promise<void> {
  for (const [job, run] of Object.entries(jobs)) {
    try {
      await run(env);
    } catch (error) {
      fault('error', { message: 'An hourly job failed', job, ...described(error) });
    }
  }
}
