import { dayMs } from '../../platform/durations.ts';
import { type MailPart, renderMail } from '../../platform/mail.ts';
import { minuteOf } from '../../platform/times.ts';
import { circuitLongestMs, giveUpAfterMs } from '../deliveries/policy.ts';
import type { AlertKind, AlertState } from './policy.ts';
import { type Happened, maxWaitingCounted, type WebhookReport } from './report.ts';
import { counted, failureDescription } from './words.ts';

/** The content of one email: the kind of alert, and the account's webhooks that it concerns. */
export type Alert = {
  kind: AlertKind;
  account: string;
  /** The webhooks to name; `others` counts the rest. */
  webhooks: AlertedWebhook[];
  others: number;
};

/** A webhook in an email. Times are milliseconds since 1970. */
export type AlertedWebhook = WebhookReport &
  Pick<AlertState, 'pausedFrom' | 'pausedTo' | 'failed' | 'failedFrom'>;

/**
 * Renders an email. Webhooks without a name are named by their host only, because paths and queries can hold secrets.
 * `origin` is that of the portal.
 */
export function renderEmail(alert: Alert, origin: string) {
  const { kind, account, webhooks, others } = alert;
  const portal = `${origin}/portal`;
  const parts: MailPart[] = [
    { text: leads[kind](webhooksOfYours(webhooks.length + others)) },
    ...webhooks.map((webhook) => ({
      name: titleOf(webhook),
      text: stories[kind](webhook),
      link: { url: `${portal}/webhooks/${webhook.webhookId}`, label: 'Open the webhook' },
    })),
    ...(others > 0 ? [othersPart(others, portal)] : []),
    { text: advice[kind] },
  ];
  return renderMail(subjectOf(alert), parts, {
    text: `You get this email because you can sign in to ${account}. To turn these emails off:`,
    link: { url: `${portal}/settings/notifications`, label: 'Notifications' },
  });
}

const othersPart = (others: number, portal: string): MailPart => ({
  text: `And ${counted(others, 'other webhook', 'other webhooks')}:`,
  link: { url: `${portal}/webhooks`, label: 'All webhooks' },
});

const webhooksOfYours = (count: number): string =>
  count === 1 ? 'a webhook of yours' : `${counted(count, 'webhook', 'webhooks')} of yours`;

const subjects = {
  paused: (what) => `Deliveries to ${what} are paused`,
  failed: (what) => `Deliveries to ${what} have failed`,
  working: (what, many) => `${what} ${many ? 'work' : 'works'} again`,
} satisfies Record<AlertKind, (what: string, many: boolean) => string>;

function subjectOf({ kind, webhooks, others }: Alert): string {
  const [first] = webhooks;
  const count = webhooks.length + others;
  return subjects[kind](
    count === 1 && first ? titleOf(first) : counted(count, 'webhook', 'webhooks'),
    count > 1,
  );
}

const titleOf = ({ name, url }: AlertedWebhook): string => name ?? new URL(url).host;

const leads = {
  paused: (what) => `We have paused deliveries to ${what}, because calls keep failing.`,
  failed: (what) => `Deliveries to ${what} have failed for good.`,
  working: (what) => `Deliveries to ${what} arrive again.`,
} satisfies Record<AlertKind, (what: string) => string>;

const since = (at: number | null): string => (at === null ? '' : ` since ${minuteOf(at)}`);
const lately = (last: Happened | null): string => (last ? ` Your receiver ${failureDescription(last)}.` : '');
const waiting = ({ waiting: count }: AlertedWebhook): string =>
  count === 0
    ? 'Nothing is waiting.'
    : `Waiting: ${counted(count, 'delivery', 'deliveries', maxWaitingCounted)}.`;

const stories = {
  paused: (webhook) =>
    `paused${since(webhook.pausedFrom)}.${lately(webhook.lastFailure)} ${waiting(webhook)}`,
  failed: (webhook) =>
    `${counted(webhook.failed, 'delivery', 'deliveries')} failed${since(webhook.failedFrom)}.${lately(webhook.lastEnd ?? webhook.lastFailure)}`,
  working: (webhook) =>
    `works again${since(webhook.pausedTo)}; paused${since(webhook.pausedFrom)} until then. ${waiting(webhook)}`,
} satisfies Record<AlertKind, (webhook: AlertedWebhook) => string>;

const replay = 'open the webhook and choose “Replay deliveries”.';
const advice = {
  paused: `Please check your receiver. Every ${circuitLongestMs / 60_000} minutes or sooner we try one delivery. When it succeeds, everything that waited is delivered. A delivery that has waited for ${giveUpAfterMs / dayMs} days has failed.`,
  failed: `We do not retry them. Once your receiver works, ${replay}`,
  working: `Pending deliveries are sent automatically. If deliveries have failed in the meantime, ${replay}`,
} satisfies Record<AlertKind, string>;
