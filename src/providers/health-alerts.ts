import { type SQL, sql } from 'drizzle-orm';
import { type Change, change, type Database, openDatabase, statement } from '../platform/db/database.ts';
import { andNotMoving } from '../platform/db/moving.ts';
import { hourMs } from '../platform/durations.ts';
import { inSteps, newBudget } from '../platform/jobs/budget.ts';
import { portalOf, queueAlerts } from '../webhooks/alerts/messages.ts';
import { isWithdrawn } from './connect.ts';
import { feedNames } from './connector.ts';
import type { Feeds, HealthStatus } from './plan.ts';
import { adviceFor } from './problem.ts';
import { connectorOf } from './registry.ts';

/** How long a connection must be late or degraded before people are notified. */
export const notifyAfterMs = 15 * 60_000;

/** How long after an alert about a connection the next one is sent. */
export const quietMs = hourMs;

/** How many connections a step covers. */
export const connectionsPerStep = 50;

/** A connection whose health differs from the last notification. */
type Changed = {
  id: string;
  accountId: string;
  name: string;
  provider: string;
  health: HealthStatus;
  feeds: string;
  isWithdrawn: number;
};

/**
 * Notifies people and channels which of their connections cannot be pulled, what to do about it, and which work again.
 * Returns how many messages it queued.
 */
export async function sendHealthAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let queued = 0;
  await inSteps(budget, async () => {
    const changed = await statement<Changed>(db)`${changedBy(env, now)}`;
    if (changed.length === 0) return false;
    const notified = JSON.stringify(changed.map(({ id, health }) => ({ id, health })));
    queued += await queueStories(env, db, changed.map(storyOf), now, [
      change(db)`
        update pulls set notified_health = r.value->>'health', notified_at = ${now}
        from json_each(${notified}) r where connection_id = r.value->>'id'`,
    ]);
    return changed.length === connectionsPerStep;
  });
  return queued;
}

/** SQL for whether there is something to notify of; a partial index holds nothing else. */
export const healthAlertsAreDue = (env: Env, now: number): SQL => sql`exists (${changedBy(env, now)})`;

/** A refused credential is notified at once, and so is a recovery; what may pass by itself, a little later. */
const changedBy = (env: Env, now: number): SQL => sql`
  select p.connection_id as id, p.account_id as accountId, coalesce(c.name, c.tsp) as name, c.provider,
    p.health, p.feeds, ${isWithdrawn(sql`p.connection_id`)} as isWithdrawn
  from pulls p indexed by pulls_to_notify join connections c on c.id = p.connection_id
  where p.health <> p.notified_health and p.health_at <= iif(p.health in (2, 4), ${now - notifyAfterMs}, ${now})
    and p.notified_at <= ${now - quietMs}
    ${andNotMoving(env, sql`p.account_id`)}
  order by p.health_at limit ${connectionsPerStep}`;

/** An alert about a connection: what follows its name in the subject, and in the text. */
export type Story = { id: string; accountId: string; name: string; subject: string; text: string };

/**
 * Queues an alert per connection for the accounts' people and channels, in one transaction with `noted`. Returns how
 * many messages were queued.
 */
export async function queueStories(
  env: Env,
  db: Database,
  stories: Story[],
  now: number,
  noted: Change[],
): Promise<number> {
  const alerts = stories.map(({ accountId, id, name, subject, text }) => {
    const link = { url: `${portalOf(env)}/connections/${id}`, label: 'Open the connection' };
    return { accountId, kind: 'connection', subject: `${name} ${subject}`, parts: [{ name, text, link }] };
  });
  return queueAlerts(env, db, alerts, now, noted);
}

function storyOf({ id, accountId, name, health, ...rest }: Changed): Story {
  const { subject, lead } = words[health];
  const text = health === 1 ? lead : [lead, adviceOn(rest)].filter(Boolean).join(' ');
  return { id, accountId, name, subject, text };
}

const words: { [status in HealthStatus]: { subject: string; lead: string } } = {
  1: {
    subject: 'works again',
    lead: 'works again. We are loading what happened meanwhile, and will notify you of it.',
  },
  2: { subject: 'is late', lead: 'nothing could be pulled for a while.' },
  3: {
    subject: 'is unavailable',
    lead: 'nothing is being pulled, so you are not notified of crashes.',
  },
  4: { subject: 'is incomplete', lead: 'some of its data cannot be pulled.' },
};

/** What to do about the first feed with a problem. */
function adviceOn({
  provider,
  feeds,
  isWithdrawn,
}: Pick<Changed, 'provider' | 'feeds' | 'isWithdrawn'>): string {
  if (isWithdrawn) return 'The consent to it was withdrawn by its connect link.';
  const connector = connectorOf(provider);
  const known = JSON.parse(feeds) as Feeds; // as it was written
  const problem = feedNames.map((name) => known[name]?.problem).find((one) => one !== undefined);
  return connector && problem ? adviceFor(connector, problem) : '';
}
