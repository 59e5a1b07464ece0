import type { Child } from 'hono/jsx';
import { CopyButton } from './buttons.tsx';
import type { IconName } from './icon-names.ts';
import { Icon } from './icons.tsx';
import type { Mood } from './states.tsx';

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
  const { title, id = title.toLowerCase().replace(/[^a-z0-9]+/g, '-'), live, body, children } = props;
  return (
    <section class="panel" aria-labelledby={id} id={live ? `${id}-now` : undefined} data-live={live}>
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
      <p class="wrap-anywhere">{props.children}</p>
      {props.more}
    </div>
    {props.side && <div class="note-side">{props.side}</div>}
  </div>
);

/** Why a list is empty and what fills it, with an optional button. */
export const Empty = (props: {
  icon: IconName;
  title: string;
  text?: Child;
  action?: Child;
  children?: Child;
}) => (
  <div class="empty">
    <Icon name={props.icon} />
    <strong>{props.title}</strong>
    {(props.text ?? props.children) && <p>{props.text ?? props.children}</p>}
    {props.action}
  </div>
);

export type FactList = [name: string, value: Child | null | undefined][];

/** The properties of one thing; missing ones are left out. */
export const Facts = ({ facts }: { facts: FactList }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
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
