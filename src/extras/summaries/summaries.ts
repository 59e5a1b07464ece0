import { and, eq, isNotNull, lte, type SQL, sql } from 'drizzle-orm';
import { config, originOf } from '../../core/platform/config.ts';
import { checksum, hasChecksum } from '../../core/platform/crypto.ts';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import { type Caller, ofActiveAccount } from '../../core/platform/db/guard.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { inSteps, isLeft, newBudget } from '../../core/platform/jobs/budget.ts';
import { fault } from '../../core/platform/log.ts';
import { renderMail } from '../../people/mail/render.ts';
import { sendMail, whyNotSent } from '../../people/mail/send.ts';
import { setSummaryDue } from '../../people/people.ts';
import { portalUsers } from '../../people/tables.ts';
import { readSummary } from './read.ts';
import { summaryTexts } from './texts.ts';
import { nextAt } from './zone.ts';

/** The hour of the day, in a person's zone, at which their summary is sent. */
export const summaryHour = 7;

/** How many people's summaries a step sends, and when one that failed is tried again, until the next is due. */
const peoplePerStep = 20;
const retryMs = hourMs;

/** The statement that turns a person's daily summary on, in a zone unless they choose one, or off. */
export function chooseSummary(
  db: Database,
  { accountId }: Caller,
  userId: string,
  zone: string | null,
) {
  const due = zone && nextAt(zone, summaryHour, Date.now());
  const own = and(eq(portalUsers.id, userId), eq(portalUsers.accountId, accountId));
  return setSummaryDue(db, { summaryDueAt: due || null, summaryZone: zone }, own);
}

/** SQL for whether `sendSummaries` has work. */
export const summariesAreDue = (now: number): SQL => sql`exists (
  select 1 from portal_users indexed by portal_users_summaries
  where summary_due_at <= ${now} and ${ofActiveAccount(sql`portal_users.account_id`)})`;

/** Sends the summaries that are due. A summary is sent at most once, whatever fails meanwhile. */
export async function sendSummaries(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const db = openDatabase(env);
  await inSteps(budget, async () => {
    const people = await transaction(db, selectDue(db, now));
    for (const person of people) if (isLeft(budget)) await sendTo(env, db, person, now);
    return people.length > 0;
  });
}

const selectDue = (db: Database, now: number) =>
  db
    .select({
      id: portalUsers.id,
      accountId: portalUsers.accountId,
      email: portalUsers.email,
      zone: sql<string>`coalesce(${portalUsers.timeZone}, ${portalUsers.summaryZone}, 'UTC')`.as(
        'zone',
      ),
      account: accounts.name,
    })
    .from(portalUsers)
    .innerJoin(accounts, eq(accounts.id, portalUsers.accountId))
    .where(and(lte(portalUsers.summaryDueAt, now), eq(accounts.status, 'active')))
    .orderBy(portalUsers.summaryDueAt)
    .limit(peoplePerStep);

type Person = { id: string; accountId: string; email: string; zone: string; account: string };

async function sendTo(env: Env, db: Database, person: Person, now: number): Promise<void> {
  const { id, accountId, email: to, zone, account } = person;
  const next = nextAt(zone, summaryHour, now);
  const isDue = and(eq(portalUsers.id, id), lte(portalUsers.summaryDueAt, now));
  const claimed = await transaction(db, setSummaryDue(db, { summaryDueAt: next }, isDue));
  if (claimed.meta.changes === 0) return; // another invocation, or turned off meanwhile
  try {
    const portal = `${originOf(env)}/portal`;
    const summary = await readSummary(db, accountId, zone, now);
    const { subject, parts } = summaryTexts(summary, { portal, zone });
    const off = await offUrl(env, id);
    const { text, html } = await renderMail(subject, parts, {
      text: `You get this summary each morning because you asked for it in ${account}.`,
      link: { url: off, label: 'Turn it off' },
    });
    await sendMail(env, {
      ...{ to, subject, text, html },
      headers: {
        'List-Unsubscribe': `<${off}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    });
  } catch (error) {
    const { code, ours } = whyNotSent(error);
    fault('error', 'A summary could not be sent', { accountId, code }, ours);
    const again = { summaryDueAt: Math.min(next, now + retryMs) };
    const isOn = and(eq(portalUsers.id, id), isNotNull(portalUsers.summaryDueAt));
    await transaction(db, setSummaryDue(db, again, isOn));
  }
}

/** The address that turns a person's summary off, without a session. */
async function offUrl(env: Env, userId: string): Promise<string> {
  const key = await checksum(config(env).encryptionKeys, 'summary', userId);
  return `${originOf(env)}/portal/summary/off?${new URLSearchParams({ person: userId, key })}`;
}

/** Whether we made the address that has this person and key. */
export const isOffKey = (env: Env, userId: string, key: string): Promise<boolean> =>
  hasChecksum(config(env).encryptionKeys, 'summary', userId, key);

/** Turns a person's summary off, by the key of its address. */
export async function turnSummaryOff(env: Env, userId: string): Promise<void> {
  const db = openDatabase(env);
  await transaction(
    db,
    setSummaryDue(db, { summaryDueAt: null, summaryZone: null }, eq(portalUsers.id, userId)),
  );
}
