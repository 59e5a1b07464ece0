import { newId } from '../platform/db/ids.ts';
import { attempt, headersFor } from './deliveries/attempt.ts';
import type { Attempt } from './deliveries/record.ts';
import { EVENT } from './notifications/types.ts';
import type { WebhookInput } from './schema.ts';
import { testAccident, testEvent } from './simulate.ts';

/**
 * Calls the receiver of a webhook that need not be saved, once, with a made-up event or else the first level of an
 * accident. `input` has been validated, so its address is one that deliveries may go to. Saves nothing.
 */
export async function tryReceiver(input: WebhookInput): Promise<Attempt> {
  const { url, httpVerb, headers, notificationTypes } = input;
  const [made] = notificationTypes.includes(EVENT) ? testEvent() : testAccident(input);
  const at = Date.now();
  const outcome = await attempt(
    { url, httpVerb, headers: headersFor(headers) },
    { id: newId(at), attempt: 1, type: made?.type ?? EVENT, data: JSON.stringify(made?.data ?? {}) },
  );
  return { at, durationMs: Date.now() - at, ...outcome };
}
