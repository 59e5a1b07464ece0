import type { Child } from 'hono/jsx';
import { counted } from '../../webhooks/alerts/words.ts';
import { maxCounted } from '../session/attention.ts';
import { LinkButton } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/parts.tsx';
import type { Mood } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { titleOf } from '../webhooks/webhook-words.ts';
import { habit } from '../webhooks/words.ts';
import type { ConnectionProblem, WebhookProblem } from './problems.ts';

/** What is broken, why, and one button that starts the repair. Nothing when all is well. */
export const Problems = (props: { connections: ConnectionProblem[]; webhooks: WebhookProblem[] }) =>
  props.connections.length + props.webhooks.length === 0 ? null : (
    <Panel id="problems" title="Connections and webhooks with problems" hidden>
      <ul class="rows problems">
        {props.connections.map((connection) => (
          <OfConnection connection={connection} />
        ))}
        {props.webhooks.map((webhook) => (
          <OfWebhook webhook={webhook} />
        ))}
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

/** What each health but the first means for the account. */
const healths: { [status: number]: { mood: Mood; title: string; means: string } } = {
  2: { mood: 'warn', title: 'needs a look', means: 'Data comes in, but something is wrong with it.' },
  3: { mood: 'bad', title: 'is unavailable', means: 'No data comes in.' },
  4: { mood: 'warn', title: 'is degraded', means: 'Some data is late or missing.' },
};
const refusal = (tsp: string) => ({
  mood: 'bad' as const,
  title: `is refused by ${tsp}`,
  means: 'Nothing is pulled until its credential is replaced.',
});
const unknownHealth = { mood: 'warn' as const, title: 'has a problem', means: '' };

const OfConnection = ({ connection }: { connection: ConnectionProblem }) => {
  const { id, name, tsp, healthStatus, refused, lastEventAt } = connection;
  const { mood, title, means } = refused ? refusal(tsp) : (healths[healthStatus] ?? unknownHealth);
  return (
    <Problem
      mood={mood}
      title={`Connection “${name}” ${title}`}
      action={<LinkButton href={`/portal/connections/${id}`} name="See the connection" about={name} small />}
    >
      {means} {name !== tsp && !refused && `Its provider is ${tsp}.`}{' '}
      {lastEventAt !== null && (
        <>
          Its latest safety event is from <Time at={lastEventAt} />.
        </>
      )}
    </Problem>
  );
};

const OfWebhook = ({ webhook }: { webhook: WebhookProblem }) => {
  const { id, failures, paused, openUntil, lastFailure, waiting, failed } = webhook;
  const name = titleOf(webhook);
  const many = (count: number) => counted(count, 'delivery', 'deliveries', maxCounted);
  const does = lastFailure === null ? '' : `Its receiver ${habit(JSON.parse(lastFailure))}.`; // as record.ts writes it
  const href = `/portal/webhooks/${id}`;
  if (!paused)
    return (
      <Problem
        mood="warn"
        title={`Webhook “${name}”: ${many(failed)} failed in the last 7 days`}
        action={<LinkButton href={href} name="Review and replay" about={`of ${name}`} small />}
      >
        {failures === 0 ? 'The receiver works again and can get them now.' : does}
      </Problem>
    );
  return (
    <Problem
      mood="bad"
      title={`Webhook “${name}” is paused after ${failures} failures in a row`}
      action={<LinkButton href={href} name="See the failures" about={`of ${name}`} small />}
    >
      {does} {`${many(waiting)} ${waiting === 1 ? 'is' : 'are'} waiting`}
      {openUntil !== null && openUntil > Date.now() && (
        <>
          ; next attempt at <Time at={openUntil} />
        </>
      )}
      .
    </Problem>
  );
};
