import { change, type Database } from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';
import { hourMs, minuteMs } from '../../platform/durations.ts';
import type { ChannelMessage } from './message-formats.ts';

export const maxChannels = 10;

/** The job that sends the messages of `queueMessage`. */
export const channelJob = 'messages to channels';

/** How often a message is tried, and the wait after the first attempt; each further wait is four times as long. */
export const maxAttempts = 4;
export const retryMs = minuteMs;

/** A busy channel is retried when it asks, within an hour; until the message is this old, that uses up no attempt. */
export const longestBusyMs = hourMs;
export const busyUntilAgeMs = 6 * hourMs;

export const channelTimeoutMs = 5_000;

/** The statement that queues a message for a channel, if the channel still exists. */
export function queueMessage(db: Database, channelId: string, message: ChannelMessage) {
  const { accountId, account, kind, subject, parts } = message;
  const kept: ChannelMessage = { accountId, account, kind, subject, parts };
  return change(db)`
    insert into channel_messages (account_id, channel_id, id, message, due_at)
    select account_id, id, ${newId()}, ${JSON.stringify(kept)}, ${Date.now()}
    from alert_channels where id = ${channelId}`;
}
