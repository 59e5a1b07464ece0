import { timestamp } from '../../platform/fields.ts';
import type { MailPart } from '../../platform/mail.ts';
import type { ChannelKind } from './channel-input.ts';

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
          [name && `*${escaped(name)}:*`, escaped(text), link && `<${link.url}|${escaped(link.label)}>`]
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

/** How long all texts of a chat can be, and one: Slack takes some 11,000 characters, Teams 28 KB of JSON. */
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
