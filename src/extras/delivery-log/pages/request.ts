import { timestamp } from '../../../core/platform/fields.ts';
import { headersFor } from '../../../core/webhooks/deliveries/send/attempt.ts';
import type { StoredWebhook } from '../../../core/webhooks/stored.ts';
import type { Pages } from '../../../ui/added.ts';
import type { Delivery, More } from '../find.ts';

export const hidden = '…';

export type CallHeaders = NonNullable<Pages['callHeaders']>;

/** The call of a delivery's latest attempt, or its first, as its webhook is now, without secrets. */
export function requestOf(
  webhook: StoredWebhook,
  { id, type, attempts, last, createdAt, payload }: Delivery & Pick<More, 'payload'>,
  parts: CallHeaders[],
) {
  const at = last?.at ?? createdAt;
  const added: Record<string, string> = Object.assign(
    {},
    ...parts.map((of) => of(webhook, { id, at })),
  );
  const custom = Object.fromEntries(Object.keys(webhook.headers).map((name) => [name, hidden]));
  return {
    headers: {
      ...headersFor(custom, 'Authorization' in added),
      'Delivery-Id': id,
      'Delivery-Attempt': String(Math.max(1, attempts)),
      ...added,
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
