import { version } from '../../../package.json';
import { receiverProblem } from '../../core/platform/address.ts';
import { config } from '../../core/platform/config.ts';
import { unseal } from '../../core/platform/crypto.ts';
import { timestamp } from '../../core/platform/fields.ts';
import { fault } from '../../core/platform/log.ts';
import { callOnce } from '../../core/webhooks/deliveries/send/call-once.ts';
import { type MailPart, renderMail } from '../../people/mail/render.ts';
import { sendMail, whyNotSent } from '../../people/mail/send.ts';
import { failureDescription } from '../../texts/outcome.ts';
import type { ChannelKind } from './channel-input.ts';

export type Target = { id: string; kind: ChannelKind; address: string };

/** Why a message did not arrive, to follow the channel's name; null if it did. */
export type SendError = string | null;

/** The problem of an email when the email service takes no more of them today. */
export const quotaUsedUp: SendError = 'could not be sent: E_DAILY_LIMIT_EXCEEDED';

const channelTimeoutMs = 5_000;

/** Sends a message by email. Never throws. */
export async function email(env: Env, to: string, message: AlertMessage): Promise<SendError> {
  const { accountId, account, kind, subject, parts } = message;
  const why =
    kind === 'record'
      ? `you asked for it in ${account}. To change that:`
      : `you can sign in to ${account}. To turn these emails off:`;
  try {
    const { text, html } = await renderMail(subject, parts, {
      text: `You get this email because ${why}`,
      link: { url: `${config(env).origin}/portal/settings/notifications`, label: 'Notifications' },
    });
    await sendMail(env, { to, subject, text, html });
    return null;
  } catch (error) {
    const { code, ours } = whyNotSent(error);
    const problem = `could not be sent: ${code}`;
    if (problem !== quotaUsedUp)
      fault('error', 'An alert could not be sent', { accountId, alert: kind, code }, ours);
    return problem;
  }
}

/** Sends a message to a channel. Never throws. */
export async function post(
  env: Env,
  { id, kind, address }: Target,
  message: AlertMessage,
): Promise<SendError> {
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  const url = await unseal(env, id, address).then(
    ({ url }) => url,
    () => undefined,
  );
  if (url === undefined) return 'has an address that we can no longer decrypt. Enter it again';
  if (receiverProblem(url, { allowLoopback }))
    return failureDescription({ result: 'blocked address' });
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `FleetDataService/${version}`,
  };
  const body = channelBody(kind, message, Date.now());
  const outcome = await callOnce(url, { method: 'POST', headers, body }, channelTimeoutMs);
  if (outcome.result === 'success') return null;
  if (outcome.result === 'timeout') return `did not respond within ${channelTimeoutMs / 1000} s`;
  const said = 'answer' in outcome ? outcome.answer.trim() : '';
  // Slack gives the reason as one word, such as `channel_is_archived`. Other text may repeat a secret.
  const { result, status } = outcome; // the address is a secret, and a redirect may repeat it
  return (
    failureDescription({ result, status }, 'returned') +
    (/^[a-z_]{3,60}$/.test(said) ? `: ${said}` : '')
  );
}

/** A message about an account: its kind, and the subject and parts of an email. */
export type AlertMessage = {
  accountId: string;
  account: string;
  kind: string;
  subject: string;
  parts: MailPart[];
};

/** The body of a message for a kind of channel, at a time in milliseconds since 1970. */
export const channelBody = (kind: ChannelKind, message: AlertMessage, at: number): string =>
  JSON.stringify(formats[kind](message, at));

const formats: { [kind in ChannelKind]: (message: AlertMessage, at: number) => object } = {
  slack: ({ account, subject, parts }) => ({
    text: escaped(`${subject} (${account})`),
    blocks: [
      section(`*${escaped(subject)}*\n${escaped(account)}`),
      ...fitting(parts).map(({ name, text, link }) =>
        section(
          [
            name && `*${escaped(name)}:*`,
            escaped(text),
            link && `<${link.url}|${escaped(link.label)}>`,
          ]
            .filter(Boolean)
            .join(' '),
        ),
      ),
    ],
  }),
  teams: ({ account, subject, parts }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            runs([{ text: subject, weight: 'Bolder', size: 'Medium' }]),
            runs([{ text: account, isSubtle: true }]),
            ...fitting(parts).map(({ name, text, link }) =>
              runs([
                ...(name ? [{ text: `${name}: `, weight: 'Bolder' }] : []),
                { text: `${text} ` },
                ...(link ? [{ text: link.label, selectAction: opens(link.url) }] : []),
              ]),
            ),
          ],
        },
      },
    ],
  }),
  https: (message, at) => ({ sentAt: timestamp(at), ...message }),
};

/** How long all texts of a chat can be: Teams takes 28 KB, Slack 11,000 characters. */
const maxTexts = 9000;
const maxText = 2500;

const fitting = (parts: MailPart[]): MailPart[] =>
  parts.map((part) => {
    const room = Math.min(maxText, Math.floor(maxTexts / parts.length)) - (part.name?.length ?? 0);
    return { ...part, text: part.text.slice(0, room).toWellFormed() };
  });

/** Slack's limit for the text of a section. */
const maxSection = 3000;

const section = (text: string) => ({
  type: 'section',
  text: { type: 'mrkdwn', text: text.slice(0, maxSection) },
});

/** Escapes Slack's three control characters, so that names cannot make links or notify people. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A paragraph of plain text: a TextBlock would be parsed as Markdown. */
const runs = (inlines: object[]) => ({
  type: 'RichTextBlock',
  inlines: inlines.map((run) => ({ type: 'TextRun', ...run })),
});

const opens = (url: string) => ({ type: 'Action.OpenUrl', url });
