import { dayMs } from '../../platform/durations.ts';
import type { MailPart } from '../../platform/mail.ts';
import { minuteOf } from '../../platform/times.ts';
import { circuitLongestMs, giveUpAfterMs } from '../deliveries/policy.ts';
import type { AlertKind, AlertState } from './policy.ts';
import { counted, failureDescription, type Happened } from './words.ts';

/** A webhook in an alert. Times are milliseconds since 1970. */
export type AlertedWebhook = Pick<AlertState, 'pausedFrom' | 'pausedTo' | 'failed' | 'failedFrom'> & {
  webhookId: string;
  name: string | null;
  url: string;
  lastFailure: Happened | null;
};

/** How many webhooks a message names. */
export const maxNamed = 10;

/**
 * The subject and parts of an alert about an account's webhooks. Those without a name are named by their host only,
 * because paths and queries can hold secrets.
 */
export function alertText(kind: AlertKind, webhooks: AlertedWebhook[], portal: string) {
  const { subject, lead, story, advice } = texts[kind];
  const [first] = webhooks;
  const named = webhooks.slice(0, maxNamed);
  const others = webhooks.length - named.length;
  const many = counted(webhooks.length, 'webhook', 'webhooks');
  const parts: MailPart[] = [
    { text: lead(webhooks.length === 1 ? 'a webhook of yours' : `${many} of yours`) },
    ...named.map((webhook) => ({
      name: titleOf(webhook),
      text: story(webhook),
      link: { url: `${portal}/webhooks/${webhook.webhookId}`, label: 'Open the webhook' },
    })),
    ...(others > 0
      ? [
          {
            text: `And ${counted(others, 'other webhook', 'other webhooks')}:`,
            link: { url: `${portal}/webhooks`, label: 'All webhooks' },
          },
        ]
      : []),
    { text: advice },
  ];
  return { subject: subject(first && webhooks.length === 1 ? titleOf(first) : many), parts };
}

const titleOf = ({ name, url }: AlertedWebhook): string => name ?? new URL(url).host;

const since = (at: number | null): string => (at === null ? '' : ` since ${minuteOf(at)}`);
const lately = ({ lastFailure: last }: AlertedWebhook): string =>
  last ? ` Your receiver ${failureDescription(last)}.` : '';

const replay = 'open the webhook and choose “Replay deliveries”.';

/** The text of each kind of alert. `what` is one webhook, or how many. */
const texts: {
  [kind in AlertKind]: {
    subject: (what: string) => string;
    lead: (what: string) => string;
    story: (webhook: AlertedWebhook) => string;
    advice: string;
  };
} = {
  paused: {
    subject: (what) => `Deliveries to ${what} are paused`,
    lead: (what) => `We have paused deliveries to ${what}, because calls keep failing.`,
    story: (webhook) => `paused${since(webhook.pausedFrom)}.${lately(webhook)}`,
    advice: `Please check your receiver. Every ${circuitLongestMs / 60_000} minutes or sooner we try one delivery. When it succeeds, everything that waited is delivered. A delivery that has waited for ${giveUpAfterMs / dayMs} days has failed.`,
  },
  failed: {
    subject: (what) => `Deliveries to ${what} have failed`,
    lead: (what) => `Deliveries to ${what} have failed for good.`,
    story: (webhook) =>
      `${counted(webhook.failed, 'delivery', 'deliveries')} failed${since(webhook.failedFrom)}.${lately(webhook)}`,
    advice: `We do not retry them. Once your receiver works, ${replay}`,
  },
  working: {
    subject: (what) => `Deliveries to ${what} arrive again`,
    lead: (what) => `Deliveries to ${what} arrive again.`,
    story: ({ pausedFrom, pausedTo }) =>
      `works again${since(pausedTo)}; paused${since(pausedFrom)} until then.`,
    advice: `Pending deliveries are sent automatically. If deliveries have failed in the meantime, ${replay}`,
  },
};
