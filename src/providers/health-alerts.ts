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

/** How long a connection has been late or degraded before anybody is told. */
export const toldAfterMs = 15 * 60_000;

/** For how long after an email about a connection no other is sent about it. */
export const quietMs = 60 * 60_000;

/** How many connections are told of at a time: some 20 s of emails at most. */
const maxTold = 10;

/** A connection of whose health people have been told something else. */
type Untold = {
  connectionId: string;
  accountId: string;
  name: string;
  provider: string;
  health: HealthStatus;
  feeds: string;
};

/**
 * Tells accounts' people, by email, which of their connections cannot be pulled, what to do about it, and which can be
 * again. What is told is noted before it is sent, so that nobody is told twice. Returns how many emails it sent.
 */
export async function sendHealthAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let sent = 0;
  for (let more = true; more && isLeft(budget); ) {
    const untold = await statement<Untold>(db, untoldSince(env, now));
    more = untold.length === maxTold;
    if (untold.length > 0) sent += await tell(env, db, untold, now);
  }
  return sent;
}

async function tell(env: Env, db: Database, untold: Untold[], now: number): Promise<number> {
  const { emailFrom, origin } = config(env);
  const [recipients] = await transaction(
    db,
    [
      selectRecipients(db, [...new Set(untold.map(({ accountId }) => accountId))]),
      ...untold.map((one) => noteTold(db, one, now)),
    ],
    { repeatable: true },
  );
  if (!emailFrom || !origin) return 0;
  const people = new Map(recipients.map((row) => [row.accountId, row]));
  const mails = untold.flatMap((one) => {
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

/** SQL that says whether there is somebody to tell: an index holds nothing else. */
export const healthAlertsAreDue = (env: Env, now: number): SQL => sql`exists (${untoldSince(env, now)})`;

/** A refused credential is told at once, as is that all is well again; what may pass by itself a little later. */
const untoldSince = (env: Env, now: number): SQL => sql`
  select p.connection_id as connectionId, p.account_id as accountId, coalesce(c.name, c.tsp) as name, c.provider,
    p.health, p.feeds
  from pulls p indexed by pulls_to_tell join connections c on c.id = p.connection_id
  where p.health <> p.told_health and p.health_at <= iif(p.health in (2, 4), ${now - toldAfterMs}, ${now})
    and p.told_at <= ${now - quietMs}
    ${andNotMoving(env, sql`p.account_id`)}
  order by p.health_at limit ${maxTold}`;

const noteTold = (db: Database, { connectionId, health }: Untold, now: number) =>
  change(
    db,
    sql`update pulls set told_health = ${health}, told_at = ${now} where connection_id = ${connectionId}`,
  );

/** What to do about the first feed that has a problem. */
function adviceOn({ provider, feeds }: Untold): string {
  const connector = connectorOf(provider);
  const known = JSON.parse(feeds) as Feeds; // as it was written
  const problem = feedNames.map((name) => known[name]?.problem).find((one) => one !== undefined);
  return connector && problem ? adviceFor(connector, problem) : '';
}
