import { config } from '../platform/config.ts';
import type { Database } from '../platform/db/database.ts';
import { renderMail } from '../platform/mail.ts';
import { type AlertMail, sendMails } from '../webhooks/alerts/mails.ts';
import { asRecipients, selectRecipients } from '../webhooks/alerts/report.ts';

/** An email about a connection: its subject, and what follows the connection's name. */
export type Story = { id: string; accountId: string; name: string; subject: string; text: string };

/** Notifies the accounts' people and channels about their connections. Returns how many messages were sent. */
export async function mailStories(env: Env, db: Database, stories: Story[]): Promise<number> {
  const { origin } = config(env);
  if (stories.length === 0 || !origin) return 0;
  const accountIds = [...new Set(stories.map(({ accountId }) => accountId))];
  const recipients = (await selectRecipients(env, db, accountIds)).map(asRecipients);
  const mails = stories.flatMap(({ accountId, id, name, subject, text }): Promise<AlertMail>[] => {
    const to = recipients.find((one) => one.accountId === accountId);
    if (!to) return [];
    const link = { url: `${origin}/portal/connections/${id}`, label: 'Open the connection' };
    const mail = renderMail(subject, [{ name, text, link }], {
      text: `You get this email because you can sign in to ${to.account}. To turn these emails off:`,
      link: { url: `${origin}/portal/settings/notifications`, label: 'Notifications' },
    });
    return [mail.then((rendered) => ({ ...to, kind: 'connection', ...rendered }))];
  });
  return sendMails(env, await Promise.all(mails));
}
