import type { Child } from 'hono/jsx';
import type { statuses } from '../core/webhooks/deliveries/policy.ts';
import { levelNames } from '../core/webhooks/notifications/types.ts';
import { CopyButton, Icon, Shape } from './buttons.tsx';
import type { IconName } from './icon-names.ts';
import type { Accident } from './read/named-lists.ts';
import { Time } from './time.tsx';

/**
 * A panel: a heading, a note or one link beside it, and a `body`. `live.js` replaces `live` ones, which
 * have an `id` if their title changes.
 */
export const Panel = (props: {
  title: string;
  id?: string;
  lead?: Child;
  side?: Child;
  hidden?: boolean;
  body?: string | true;
  foot?: Child;
  live?: boolean;
  children?: Child;
}) => {
  const {
    title,
    id = title.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    live,
    body,
    children,
  } = props;
  return (
    <section
      class="panel"
      aria-labelledby={id}
      id={live ? `${id}-now` : undefined}
      data-live={live}
    >
      {props.hidden ? (
        <h2 class="sr-only" id={id}>
          {title}
        </h2>
      ) : (
        <header class="panel-head">
          <div>
            <h2 id={id}>{title}</h2>
            {props.lead && <p>{props.lead}</p>}
          </div>
          {props.side}
        </header>
      )}
      {body ? <div class={`panel-body ${body === true ? '' : body}`}>{children}</div> : children}
      {props.foot && <p class="panel-foot">{props.foot}</p>}
    </section>
  );
};

const noteIcons: { [mood in Mood]: IconName } = {
  ok: 'circle-check',
  warn: 'triangle-alert',
  bad: 'circle-alert',
  quiet: 'circle-dot',
};

/** A message about the whole page, which screen readers announce. */
export const Note = (props: {
  mood: Mood;
  role?: 'status' | 'alert';
  side?: Child;
  more?: Child;
  children: Child;
}) => (
  <div class={`note note-${props.mood}`} role={props.role}>
    <Icon name={noteIcons[props.mood]} />
    <div>
      <p>{props.children}</p>
      {props.more}
    </div>
    {props.side && <div class="note-side">{props.side}</div>}
  </div>
);

/** Why a list is empty and what fills it, with an optional button. */
export const Empty = (props: { icon: IconName; title: string; text?: Child; action?: Child }) => (
  <div class="empty">
    <Icon name={props.icon} />
    <strong>{props.title}</strong>
    {props.text && <p>{props.text}</p>}
    {props.action}
  </div>
);

export type FactList = [name: string, value: Child | null | undefined][];

/** The properties of one thing; missing ones are left out. */
export const Facts = ({ facts }: { facts: FactList }) => (
  <dl class="facts">
    {facts
      .filter(
        ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
      )
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
);

/** Three to five numbers, each with a second line for scale. */
export const Figures = ({ figures }: { figures: [name: string, value: Child, scale: Child][] }) => (
  <dl class="figures">
    {figures.map(([name, value, scale]) => (
      <div>
        <dt>{name}</dt>
        <dd>{value}</dd>
        <dd>{scale}</dd>
      </div>
    ))}
  </dl>
);

/** Views of the same thing, one of which is shown; `to` is the address of each. */
export function Segment<V>(props: {
  label: string;
  choices: readonly (readonly [view: V, name: Child])[];
  current: V | null;
  to: (view: V) => string;
}) {
  return (
    <nav class="segment" aria-label={props.label}>
      {props.choices.map(([view, name]) => (
        <a href={props.to(view)} aria-current={view === props.current ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** A text that a click selects; with script, a button copies it. */
export const Copyable = ({ id, text }: { id: string; text: string }) => (
  <div class="secret mt-3">
    <code id={id} tabindex={0}>
      {text}
    </code>
    <CopyButton of={id} />
  </div>
);

/** A secret that was just created, on the only page that shows it. */
export const ShownOnce = (props: {
  id: string;
  title: string;
  value: string;
  children: Child;
  more?: Child;
}) => (
  <section class="note note-ok" aria-labelledby={`${props.id}-title`}>
    <Icon name="key-round" />
    <div class="col-span-2">
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      <p>{props.children}</p>
      <Copyable id={props.id} text={props.value} />
      {props.more}
    </div>
  </section>
);

/** A part of a page that `live.js` replaces when something has changed, even if it is empty. */
export const Live = (props: { id: string; children: Child }) => (
  <div id={props.id} class="stack" data-live>
    {props.children}
  </div>
);

/** What a state means for the reader: fine, worth watching, a problem, or neutral. */
export type Mood = 'ok' | 'warn' | 'bad' | 'quiet';

const moodIcons: { [mood in Mood]: IconName } = {
  ok: 'circle-check',
  warn: 'triangle-alert',
  bad: 'octagon-x',
  quiet: 'circle-slash',
};

/** A state as a shape and a word, never a colour alone. */
export const State = (props: { mood: Mood; icon?: IconName | undefined; children: Child }) => (
  <span class={`state ${props.mood}`}>
    <Icon name={props.icon ?? moodIcons[props.mood]} small />
    <span>{props.children}</span>
  </span>
);

const riskNames = ['', 'Very low', 'Low', 'Medium', 'High', 'Critical'];

/** A risk from 1 to 5, as bars and number, with its name if `named`. */
export const Risk = ({ risk, named = false }: { risk: number; named?: boolean }) => (
  <span class={`risk risk-${risk}`}>
    <Shape id={`risk-${risk}`} look="glyph" />
    <span>
      <span class="sr-only">Risk </span>
      {risk}
      {named && ` ${riskNames[risk]}`}
    </span>
  </span>
);

/** From which risk on: "Risk 3 to 5", "Risk 4 and 5", "Risk 5"; by default all, or none. */
export const riskOptions = (usual: string, least = 2): [risk: string, name: string][] => {
  const risks = [1, 2, 3, 4].filter((risk) => risk >= least);
  const upTo5 = risks.map((risk): [string, string] => [
    `${risk}`,
    `Risk ${risk} ${risk < 4 ? 'to' : 'and'} 5`,
  ]);
  return [['', usual], ...upTo5, ['5', 'Risk 5']];
};

export const Level = ({ level }: { level: number }) => (
  <span class="level">
    <Shape id={`level-${level}`} look="glyph glyph-level" />
    <span>Level {level}</span>
  </span>
);

/** "Level 2, verified" */
export const levelOptions = levelNames.map((name, i): [string, string] => [
  String(i + 1),
  `Level ${i + 1}, ${name.toLowerCase()}`,
]);

/** The risk of an event, or that it has been withdrawn. */
export const EventState = (props: { eventRisk: number; withdrawn: unknown; named?: boolean }) =>
  props.withdrawn ? (
    <State mood="quiet">Withdrawn</State>
  ) : (
    <Risk risk={props.eventRisk} named={props.named ?? true} />
  );

/** The state of an accident: it needs attention until somebody acknowledges or closes it. */
export function AccidentState(accident: Accident) {
  if (accident.closed) return <State mood="quiet" icon="circle-check" children="Closed" />;
  if (accident.dismissed) return <State mood="quiet">False alarm</State>;
  if (accident.acknowledged) return <State mood="ok">Acknowledged</State>;
  return <State mood="warn" icon="circle-dot" children="Needs attention" />;
}

/** Who has closed an accident, otherwise whose it is, or who has acknowledged it. */
export const HandledBy = ({ assignedTo, acknowledged, closed }: Accident) => {
  if (closed) return <p class="sub clamp">by {closed.by}</p>;
  if (assignedTo) return <p class="sub clamp">Assigned to {assignedTo}</p>;
  return acknowledged && <p class="sub clamp">Acknowledged by {acknowledged.by}</p>;
};

export type Pause = { pausedAt: number | null; openUntil: number | null };

/** The state of a delivery in words. While its webhook is paused, no attempt is made. */
export const Status = (props: {
  delivery: {
    status: (typeof statuses)[number];
    attempts: number;
    nextAttemptAt: number | null;
  };
  webhook: Pause | null | undefined;
}) => {
  const { status, attempts, nextAttemptAt } = props.delivery;
  const { pausedAt, openUntil } = props.webhook ?? {};
  if (status === 'delivered') return <State mood="ok">Delivered</State>;
  if (status === 'failed') return <State mood="bad">Failed</State>;
  if (status === 'cancelled') return <State mood="quiet">Cancelled</State>;
  if (pausedAt) return <State mood="quiet" icon="pause" children="Waiting, webhook paused" />;
  const at = Math.max(nextAttemptAt ?? 0, openUntil ?? 0);
  const [now, later] = attempts > 0 ? ['Retrying now', 'Retry at'] : ['Sending', 'Waiting until'];
  return (
    <State mood={attempts > 0 ? 'warn' : 'quiet'} icon="clock">
      {at <= Date.now() ? now : [later, ' ', <Time at={at} />]}
    </State>
  );
};
