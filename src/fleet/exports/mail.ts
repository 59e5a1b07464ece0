import { sendMail } from '../../accounts/mail.ts';
import { config } from '../../platform/config.ts';
import { type Database, statement } from '../../platform/db/database.ts';
import { renderMail } from '../../platform/mail.ts';
import { minuteOf } from '../../platform/times.ts';
import { maxExportRecords, type Open } from './exports.ts';

/** Emails whoever asked for an export that it is ready, if they may still download it. */
export async function emailReady(env: Env, db: Database, one: Open): Promise<void> {
  const { origin, emailFrom } = config(env);
  const [reader] = await statement<{ email: string; timeZone: string | null; account: string }>(db)`
    select u.email, u.time_zone as timeZone, a.name as account
    from portal_users u join accounts a on a.id = u.account_id
    where u.id = ${one.requestedBy} and u.account_id = ${one.accountId} and u.role = 'admin'`;
  if (!emailFrom || !reader) return;
  if (!origin) throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  const until = minuteOf(one.expiresAt, reader.timeZone ?? 'UTC');
  const text =
    `${one.records.toLocaleString('en')} records of ${reader.account} can be downloaded until ${until}. ` +
    (one.records < maxExportRecords
      ? ''
      : 'That is the most that an export can have: choose fewer days for the rest. ') +
    'Sign in as an admin to get the files.';
  const link = { url: `${origin}/portal/settings/exports`, label: 'Download', button: true };
  const footer = { text: `You get this email because you asked for an export of ${reader.account}.` };
  const mail = await renderMail('Your export is ready', [{ text, link }], footer);
  await sendMail(env, { to: reader.email, subject: mail.subject, text: mail.text, html: mail.html });
}
