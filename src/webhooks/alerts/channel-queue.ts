import { change, type Database } from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';
import { hourMs, minuteMs } from '../../platform/durations.ts';
import type { ChannelMessage } from './message-formats.ts';

/** How many channels an account can have. */
export const maxChannels = 10;

/** The job that sends what `queueMessage` has queued. */
export const channelJob = 'messages to channels';

/** How often a message is tried, and the wait after the first attempt, four times as long after each other. */
export const maxAttempts = 4;
export const retryMs = minuteMs;

/**
 * A channel that is too busy is tried again when it says so, within an hour, which counts as no attempt until the message
 * is this old.
 */
export const longestBusyMs = hourMs;
export const busyUntilAgeMs = 6 * hourMs;

/** How long a channel may take to respond. */
export const channelTimeoutMs = 5_000;

/** The statement that queues a message for a channel, to be sent by the job. Nothing for one that is gone. */
export function queueMessage(db: Database, channelId: string, message: ChannelMessage) {
  const { accountId, account, kind, subject, parts } = message;
  const kept: ChannelMessage = { accountId, account, kind, subject, parts };
  return change(db)`
    insert into channel_messages (account_id, channel_id, id, message, due_at)
    select account_id, id, ${newId()}, ${JSON.stringify(kept)}, ${Date.now()}
    from alert_channels where id = ${channelId}`;
}
