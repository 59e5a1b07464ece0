import { type SQL, sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import { change, type Database, openDatabase, statement, transaction } from '../platform/db/database.ts';
import { andNotMoving } from '../platform/db/moving.ts';
import { isLeft, newBudget } from '../platform/jobs/budget.ts';
import { sendMails } from '../webhooks/alerts/mails.ts';
import { selectRecipients } from '../webhooks/alerts/report.ts';
import { feedNames } from './connector.ts';
import type { HealthStatus } from './health.ts';
import { healthMail } from './mail.ts';
import type { Feeds } from './plan.ts';
import { adviceFor } from './problem.ts';
import { connectorOf } from './registry.ts';

/** How long a connection has been late or degraded before anybody is notified. */
export const notifyAfterMs = 15 * 60_000;

/** For how long after an email about a connection no other is sent about it. */
export const quietMs = 60 * 60_000;

/** How many connections a round of emails is about: some 20 s at most. */
const perRound = 10;

/** A connection that is doing otherwise than people were last notified. */
type Changed = {
  connectionId: string;
  accountId: string;
  name: string;
  provider: string;
  health: HealthStatus;
  feeds: string;
};

/**
 * Emails accounts' people which of their connections cannot be pulled, what to do about it, and which can be again. An
 * email is noted before it is sent, so that nobody gets it twice. Returns how many it sent.
 */
export async function sendHealthAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let sent = 0;
  for (let more = true; more && isLeft(budget); ) {
    const changed = await statement<Changed>(db, changedBy(env, now));
    more = changed.length === perRound;
    if (changed.length > 0) sent += await notify(env, db, changed, now);
  }
  return sent;
}

async function notify(env: Env, db: Database, changed: Changed[], now: number): Promise<number> {
  const { emailFrom, origin } = config(env);
  const [recipients] = await transaction(
    db,
    [
      selectRecipients(db, [...new Set(changed.map(({ accountId }) => accountId))]),
      ...changed.map((one) => noteNotified(db, one, now)),
    ],
    { repeatable: true },
  );
  if (!emailFrom || !origin) return 0;
  const people = new Map(recipients.map((row) => [row.accountId, row]));
  const mails = changed.flatMap((one) => {
    const to = people.get(one.accountId);
    return to ? [{ one, account: to.account, emails: JSON.parse(to.emails) as string[] }] : []; // as selected
  });
  return await sendMails(
    env,
    await Promise.all(
      mails.map(async ({ one, account, emails }) => ({
        accountId: one.accountId,
        kind: 'connection',
        emails,
        ...(await healthMail({ ...one, account, advice: adviceOn(one) }, origin)),
      })),
    ),
  );
}

/** SQL that says whether there is something to email: an index holds nothing else. */
export const healthAlertsAreDue = (env: Env, now: number): SQL => sql`exists (${changedBy(env, now)})`;

/** A refused credential is news at once, as is that all is well again; what may pass by itself a little later. */
const changedBy = (env: Env, now: number): SQL => sql`
  select p.connection_id as connectionId, p.account_id as accountId, coalesce(c.name, c.tsp) as name, c.provider,
    p.health, p.feeds
  from pulls p indexed by pulls_to_notify join connections c on c.id = p.connection_id
  where p.health <> p.notified_health and p.health_at <= iif(p.health in (2, 4), ${now - notifyAfterMs}, ${now})
    and p.notified_at <= ${now - quietMs}
    ${andNotMoving(env, sql`p.account_id`)}
  order by p.health_at limit ${perRound}`;

const noteNotified = (db: Database, { connectionId, health }: Changed, now: number) =>
  change(
    db,
    sql`update pulls set notified_health = ${health}, notified_at = ${now} where connection_id = ${connectionId}`,
  );

/** What to do about the first feed that has a problem. */
function adviceOn({ provider, feeds }: Changed): string {
  const connector = connectorOf(provider);
  const known = JSON.parse(feeds) as Feeds; // as it was written
  const problem = feedNames.map((name) => known[name]?.problem).find((one) => one !== undefined);
  return connector && problem ? adviceFor(connector, problem) : '';
}
