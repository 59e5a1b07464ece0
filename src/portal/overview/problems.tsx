import type { Child } from 'hono/jsx';
import { listed } from '../../platform/text.ts';
import { failureDescription } from '../../webhooks/alerts/words.ts';
import { whyUncovered } from '../../webhooks/coverage.ts';
import { givenHealth } from '../connections/health.tsx';
import { maxCounted } from '../read/attention.ts';
import type { ConnectionProblem, Uncovered, WebhookProblem } from '../read/overview.ts';
import { LinkButton } from '../ui/buttons.tsx';
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
    <Panel title="Connections and webhooks with problems" hidden>
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
