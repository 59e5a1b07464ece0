import { timestamp } from '../../../core/platform/fields.ts';
import { headersFor } from '../../../core/webhooks/deliveries/send/attempt.ts';
import type { StoredWebhook } from '../../../core/webhooks/stored.ts';
import type { Delivery, More } from '../find.ts';

export const hidden = '…';

/** The call of a delivery's latest attempt, or its first, as its webhook is now, without secrets. */
export function requestOf(
  { headers, oauth, signing }: StoredWebhook,
  { id, type, attempts, last, createdAt, payload }: Delivery & Pick<More, 'payload'>,
) {
  const at = last?.at ?? createdAt;
  const custom = Object.fromEntries(Object.keys(headers).map((name) => [name, hidden]));
  return {
    headers: {
      ...headersFor(custom, oauth !== undefined),
      'Delivery-Id': id,
      'Delivery-Attempt': String(Math.max(1, attempts)),
      ...(signing && {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1000)),
        'webhook-signature': `v1,${hidden}`,
      }),
      ...(oauth && { Authorization: `Bearer ${hidden}` }),
    },
    body: { timestamp: timestamp(at), type, data: payload },
  };
}

/** A call as a curl command for a shell. */
export function asCurl(
  method: string,
  url: string,
  { headers, body }: ReturnType<typeof requestOf>,
): string {
  const sent = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const parts = [...sent, `--data-raw ${quoted(JSON.stringify(body))}`];
  return [`curl -i -X ${method} ${quoted(url)}`, ...parts].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
