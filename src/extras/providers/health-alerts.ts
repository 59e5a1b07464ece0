import { and, eq, gt, inArray, max, notExists, type SQL, sql } from 'drizzle-orm';
import { setHealthStatus, setSilentSince } from '../../core/fleet/connections.ts';
import {
  type Database,
  jsonList,
  refuseUnless,
  transaction,
} from '../../core/platform/db/database.ts';
import { lostLease, ofActiveAccount } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import type { HealthStatus } from '../../core/platform/db/schema/types.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { inSteps, isLeft, newBudget } from '../../core/platform/jobs/budget.ts';
import { addNews, newsFor } from '../alerts/pending.ts';
import { wakeSender } from '../alerts/sending.ts';
import { isWithdrawn } from './connected.ts';
import { adviceFor, feedNames } from './connector/connector.ts';
import { type Feeds, silentMs } from './plan.ts';
import { connectorOf } from './registry.ts';
import { pulls } from './tables.ts';

export const notifyAfterMs = 15 * 60_000;

export const quietMs = hourMs;

const connectionsPerStep = 50;

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

/** Notifies of connections that cannot be pulled, or work again. Returns how many messages. */
export async function sendHealthAlerts(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<number> {
  const db = openDatabase(env);
  let queued = 0;
  await inSteps(budget, async () => {
    // The builder knows no `indexed by`.
    const select = db.all<Changed>(sql`
      select p.connection_id as id, p.account_id as accountId, coalesce(c.name, c.tsp) as name,
        c.provider, p.health, p.feeds, ${isWithdrawn(sql`p.connection_id`)} as isWithdrawn
      from ${changedBy(now)}
      order by p.health_at limit ${connectionsPerStep}`);
    const changed = await transaction(db, select);
    if (changed.length === 0) return false;
    const notified = JSON.stringify(changed.map(({ id, health }) => ({ id, health })));
    const ids = jsonList(changed.map(({ id }) => id));
    const ofOthers = db
      .select({ id: pulls.connectionId })
      .from(pulls)
      .where(and(inArray(pulls.connectionId, ids), gt(pulls.notifiedAt, now - quietMs)));
    const { added } = await transaction(db, {
      ours: refuseUnless(db, notExists(ofOthers), lostLease), // another run has notified of some of it
      added: addStories(env, db, changed.map(storyOf), now),
      marked: db
        .update(pulls)
        .set({ notifiedHealth: sql`r.value->>'health'`, notifiedAt: now })
        .from(sql`json_each(${notified}) r`)
        .where(eq(pulls.connectionId, sql`r.value->>'id'`)),
    });
    queued += added.meta.changes;
    await wakeSender(env, added);
    return changed.length === connectionsPerStep;
  });
  return queued;
}

/** SQL for whether there is something to notify of; a partial index holds nothing else. */
export const healthAlertsAreDue = (now: number): SQL =>
  sql`exists (select 1 from ${changedBy(now)})`;

/**
 * SQL for the pulls `p` of connections `c` to notify of, unless people have paused them: refusals and recoveries at
 * once, what may pass a little later.
 */
const changedBy = (now: number): SQL => sql`
  pulls p indexed by pulls_to_notify join connections c on c.id = p.connection_id
  where p.health <> p.notified_health
    and p.health_at <= iif(p.health in (2, 4), ${now - notifyAfterMs}, ${now})
    and p.notified_at <= ${now - quietMs}
    and (p.paused_at is null or ${isWithdrawn(sql`p.connection_id`)})
    and ${ofActiveAccount(sql`p.account_id`)}`;

/** An alert about a connection: what follows its name in the subject, and in the text. */
type Story = { id: string; accountId: string; name: string; subject: string; text: string };

/** The statement that adds an alert per connection to the messages of the accounts' people and channels. */
const addStories = (env: Env, db: Database, stories: Story[], now: number) =>
  addNews(
    env,
    db,
    'connection',
    newsFor(stories.map(({ accountId, ...item }) => ({ accountId, item }))),
    now,
  );

function storyOf({ id, accountId, name, health, ...rest }: Changed): Story {
  const [subject, lead] = words[health];
  const text = health === 1 ? lead : [lead, adviceOn(rest)].filter(Boolean).join(' ');
  return { id, accountId, name, subject, text };
}

/** The subject of each status, and what the text begins with. */
const words: { [status in HealthStatus]: [string, string] } = {
  1: [
    'works again',
    'works again. We are loading what happened meanwhile, and will notify you of it.',
  ],
  2: ['is late', 'nothing could be pulled for a while.'],
  3: ['is unavailable', 'nothing is being pulled, so you are not notified of crashes.'],
  4: ['is incomplete', 'some of its data cannot be pulled.'],
};

function adviceOn(changed: Pick<Changed, 'provider' | 'feeds' | 'isWithdrawn'>): string {
  if (changed.isWithdrawn) return 'The consent to it was withdrawn by its connect link.';
  const connector = connectorOf(changed.provider);
  const known = JSON.parse(changed.feeds) as Feeds; // as it was written
  const problems = feedNames.flatMap((name) => known[name]?.problem ?? []);
  const [oldest] = problems.toSorted((a, b) => a.since - b.since);
  const problem = problems.find(({ kind }) => kind === 'refused') ?? oldest;
  return connector && problem ? adviceFor(connector, problem) : '';
}

/** Uses of an ingest key are recorded once an hour, so the last one may be an hour later. */
const usedWithinMs = hourMs;

const perChunk = 2000;

type Sender = { id: string; accountId: string; name: string; silent: number };

/** Finds connections that have sent nothing for a day, or send again, and notifies. Returns how many. */
export async function notifyOfSilence(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<number> {
  const db = openDatabase(env);
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined && isLeft(budget); ) {
    const { changed, last } = await findChanged(db, after, now);
    const { added } = await transaction(db, {
      added: addStories(env, db, changed.map(silenceStory), now),
      noted: changed.map((one) => markSilence(db, one, now)),
    });
    await wakeSender(env, added);
    count += changed.length;
    if (changed.length < connectionsPerStep) after = last[0]?.id ?? undefined;
  }
  return count;
}

const findChanged = (db: Database, after: string, now: number) =>
  transaction(db, { changed: selectChanged(db, after, now), last: lastOfChunk(db, after) });

const chunk = (db: Database, after: string) =>
  db
    .select()
    .from(connections)
    .where(gt(connections.id, after))
    .orderBy(connections.id)
    .limit(perChunk)
    .as('c');

function lastOfChunk(db: Database, after: string) {
  const some = chunk(db, after);
  return db.select({ id: max(some.id) }).from(some);
}

const selectChanged = (db: Database, after: string, now: number) =>
  // The builder knows no `indexed by`.
  db.all<Sender>(sql`
    select id, accountId, name, silent from (
      select c.id, c.account_id as accountId, coalesce(c.name, c.tsp) as name, c.silent_since is not null as known, (
        select max(t.last_used_at) <= ${now - silentMs - usedWithinMs}
        from tokens t indexed by tokens_active_by_connection
        where t.connection_id = c.id and t.revoked_at is null) as silent
      from ${chunk(db, after)}
      where not exists (select 1 from pulls p where p.connection_id = c.id)
        and ${ofActiveAccount(sql`c.account_id`)})
    where silent <> known limit ${connectionsPerStep}`);

const markSilence = (db: Database, { id, accountId, silent }: Sender, now: number) => [
  setSilentSince(db, id, silent ? now : null),
  ...setHealthStatus(db, { id, accountId, now }, silent ? 3 : 1),
];

const silence =
  'has sent nothing for a day, so you are not notified of crashes. Ask the team that runs its connector to check it.';

const silenceStory = ({ silent, ...one }: Sender): Story =>
  silent
    ? { ...one, subject: 'is silent', text: silence }
    : { ...one, subject: 'is sending again', text: 'is sending again.' };
