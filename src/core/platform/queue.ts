import { fault } from './log.ts';
import { partsOf } from './parts.ts';

const perSend = 100;

/** Sends messages, twice if necessary; the cron finds what is refused. Returns how many were sent. */
export async function send(queue: Queue, messages: object[]): Promise<number> {
  let sent = 0;
  try {
    for (const some of partsOf(messages, perSend)) {
      const batch = some.map((body) => ({ body }));
      await queue.sendBatch(batch).catch(() => queue.sendBatch(batch));
      sent += batch.length;
    }
  } catch (error) {
    fault('warn', 'Queue refused messages', { left: messages.length - sent }, error);
  }
  return sent;
}
