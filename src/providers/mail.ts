import { renderMail } from '../platform/mail.ts';
import type { HealthStatus } from './health.ts';

/** What an email about a connection says. */
export type HealthStory = {
  connectionId: string;
  name: string;
  account: string;
  health: HealthStatus;
  advice: string;
};

/** Renders the email about how a connection is doing. `origin` is where people reach the portal. */
export function healthMail({ connectionId, name, account, health, advice }: HealthStory, origin: string) {
  const { subject, lead } = words[health];
  const text = [lead, health === 1 ? '' : advice].filter(Boolean).join(' ');
  return connectionMail(subject(name), { id: connectionId, name, account, text }, origin);
}

/** Renders the email about a connection that has fallen silent, or sends again. */
export const silenceMail = (
  { id, name, account, silent }: { id: string; name: string; account: string; silent: boolean },
  origin: string,
) =>
  silent
    ? connectionMail(`${name} is silent`, { id, name, account, text: silence }, origin)
    : connectionMail(`${name} sends again`, { id, name, account, text: 'sends again.' }, origin);

const silence =
  'has sent nothing for a day, so you are not notified of crashes. Ask whoever runs its connector to look at it.';

const connectionMail = (
  subject: string,
  { id, name, account, text }: { id: string; name: string; account: string; text: string },
  origin: string,
) =>
  renderMail(
    subject,
    [{ name, text, link: { url: `${origin}/portal/connections/${id}`, label: 'Open the connection' } }],
    {
      text: `You get this email because you can sign in to ${account}. To turn these emails off:`,
      link: { url: `${origin}/portal/settings/notifications`, label: 'Notifications' },
    },
  );

const words: { [status in HealthStatus]: { subject: (name: string) => string; lead: string } } = {
  1: {
    subject: (name) => `${name} works again`,
    lead: 'works again. We load what happened in the meantime, and notify you of it.',
  },
  2: { subject: (name) => `${name} is late`, lead: 'nothing could be pulled for a while.' },
  3: {
    subject: (name) => `${name} is unavailable`,
    lead: 'nothing is pulled any more, so you are not notified of crashes.',
  },
  4: { subject: (name) => `${name} is incomplete`, lead: 'some of its data cannot be pulled.' },
};
