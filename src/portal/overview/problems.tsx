import { sql } from 'drizzle-orm';
import type { Child } from 'hono/jsx';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { isWithdrawn, needsCover } from '../../providers/connect.ts';
import { failureDescription } from '../../webhooks/alerts/words.ts';
import { isCovered, whyUncovered } from '../../webhooks/coverage.ts';
import { circuitAfter } from '../../webhooks/deliveries/policy.ts';
import { givenHealth } from '../connections/health.tsx';
import { ailingWebhooks, failedOf, maxCounted } from '../session/attention.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { listed } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/parts.tsx';
import type { Mood } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { deliveries, titleOf } from '../webhooks/words.ts';

/** What is broken, why, and one button that starts the repair. */
export const Problems = (props: {
  connections: ConnectionProblem[];
  webhooks: WebhookProblem[];
  uncovered: Uncovered[];
}) =>
  props.connections.length + props.webhooks.length + props.uncovered.length === 0 ? null : (
    <Panel id="problems" title="Connections and webhooks with problems" hidden>
      <ul class="rows problems">
        {props.connections.map((connection) => (
          <OfConnection connection={connection} />
        ))}
        {props.webhooks.map((webhook) => (
          <OfWebhook webhook={webhook} />
        ))}
        <Unnotified connections={props.uncovered} />
      </ul>
    </Panel>
  );

const Problem = (props: { mood: Mood; title: Child; action: Child; children: Child }) => (
  <li>
    <span class={props.mood}>
      <Icon name={props.mood === 'bad' ? 'octagon-x' : 'triangle-alert'} />
    </span>
    <div class="min-w-0">
      <strong class="wrap-anywhere">{props.title}</strong>
      <p class="sub wrap-anywhere">{props.children}</p>
    </div>
    {props.action}
  </li>
);

const OfConnection = ({ connection }: { connection: ConnectionProblem }) => {
  const { id, name, tsp, healthStatus, refused, lastEventAt } = connection;
  const { mood, word, note } = givenHealth(healthStatus);
  const title = refused
    ? `${tsp} refuses the credential of connection “${name}”`
    : `Connection “${name}” ${healthStatus === 2 ? 'needs attention' : `is ${word.toLowerCase()}`}`;
  return (
    <Problem
      mood={refused ? 'bad' : mood}
      title={title}
      action={<LinkButton href={`/portal/connections/${id}`} name="See the connection" about={name} small />}
    >
      {refused ? 'Nothing is pulled until its credential is replaced.' : note}{' '}
      {lastEventAt !== null && (
        <>
          Its latest safety event is from <Time at={lastEventAt} />.
        </>
      )}
    </Problem>
  );
};

/** All connections whose accidents nobody is notified of, as one problem. */
const Unnotified = ({ connections: [first, ...others] }: { connections: Uncovered[] }) => {
  if (!first) return null;
  const names = [first, ...others].map(({ name }) => `“${name}”`);
  return (
    <Problem
      mood="warn"
      title={`Nobody is notified of accidents of ${listed(names)}`}
      action={
        others.length > 0 ? (
          <LinkButton href="/portal/webhooks" name="See the webhooks" small />
        ) : (
          <LinkButton
            href={`/portal/connections/${first.id}`}
            name="See the connection"
            about={first.name}
            small
          />
        )
      }
    >
      {whyUncovered}
    </Problem>
  );
};

const OfWebhook = ({ webhook }: { webhook: WebhookProblem }) => {
  const { id, failures, paused, openUntil, lastFailure, waiting, failed } = webhook;
  const name = titleOf(webhook);
  const does = lastFailure === null ? '' : `Its receiver ${failureDescription(JSON.parse(lastFailure))}.`; // as record.ts writes it
  const isWaiting = paused === 1 && openUntil !== null && openUntil > Date.now();
  const [title, button] = paused
    ? [`Webhook “${name}” is paused after ${failures} failures in a row`, 'See the failures']
    : [`Webhook “${name}”: ${deliveries(failed, maxCounted)} failed in the last 7 days`, 'Review and replay'];
  return (
    <Problem
      mood={paused ? 'bad' : 'warn'}
      title={title}
      action={<LinkButton href={`/portal/webhooks/${id}`} name={button} about={`of ${name}`} small />}
    >
      {failures === 0 ? 'The receiver works again and can receive them now.' : does}{' '}
      {paused === 1 && `${deliveries(waiting, maxCounted)} ${waiting === 1 ? 'is' : 'are'} waiting.`}{' '}
      {isWaiting && ['Next attempt at ', <Time at={openUntil} />, '.']}
    </Problem>
  );
};

/** How many problems of each kind the overview names. */
const maxShown = 5;

/**
 * A connection that is not healthy. `lastEventAt` is when its newest safety event began; `refused`: its provider
 * refuses the credential.
 */
type ConnectionProblem = {
  id: string;
  name: string;
  tsp: string;
  healthStatus: number;
  refused: number;
  lastEventAt: number | null;
};

/**
 * A webhook that is paused, or has deliveries of the last seven days that failed for good. Counts stop at `maxCounted`.
 * `lastFailure` is its receiver's last failure, as JSON.
 */
type WebhookProblem = {
  id: string;
  name: string | null;
  url: string;
  failures: number;
  paused: number;
  openUntil: number | null;
  lastFailure: string | null;
  waiting: number;
  failed: number;
};

type Uncovered = { id: string; name: string };

/** How many of the account's connections, newest first, are checked for who is notified. */
const maxChecked = 200;

/**
 * Some of the account's connections whose accidents nobody is notified of. Reads some four rows for each of 200, and one
 * or two for each webhook of theirs that does not cover it.
 */
export const selectUncovered = (env: Env, db: Database, { accountId }: Caller) =>
  statement<Uncovered>(db)`
    select c.id, coalesce(c.name, c.tsp) as name from (
      select * from connections where account_id = ${accountId} order by created_at desc, id desc limit ${maxChecked}) c
    where not ${isCovered(env)} and ${needsCover} limit ${maxShown + 1}`;

/** The account's connections that are not healthy: one event and one pull are read for each. */
export const selectConnectionProblems = (db: Database, { accountId }: Caller) =>
  statement<ConnectionProblem>(db)`
    select id, coalesce(name, tsp) as name, tsp, health_status as healthStatus,
      exists (select 1 from pulls where connection_id = connections.id and refused_at is not null) as refused,
      (select max(started_at) from safety_events where connection_id = connections.id) as lastEventAt
    from connections indexed by connections_with_problems
    where account_id = ${accountId} and health_status <> 1 and not ${isWithdrawn(sql`connections.id`)} order by created_at, id limit ${maxShown}`;

/** The account's webhooks with problems, paused ones first. */
export const selectWebhookProblems = (db: Database, { accountId }: Caller, now: number) =>
  statement<WebhookProblem>(db)`
    select w.id, w.name, w.url, coalesce(h.failures, 0) as failures, coalesce(h.failures >= ${circuitAfter}, 0) as paused,
      h.open_until as openUntil, h.last_failure as lastFailure,
      (select count(*) from (select 1 from deliveries indexed by deliveries_due
        where webhook_id = w.id and status = 'pending' and next_attempt_at is not null limit ${maxCounted})) as waiting,
      (select count(*) from (${failedOf(now)} limit ${maxCounted})) as failed
    from ${ailingWebhooks(sql`${accountId}`, now)} order by paused desc, w.created_at limit ${maxShown}`;
