import type { Child } from 'hono/jsx';
import type { SliceQuery } from '../../platform/db/slices.ts';
import type { Context } from '../../platform/http/context.ts';
import { cursorFor } from '../../platform/http/slices.ts';
import { Icon, type IconName } from './icons.tsx';
import type { Mood } from './states.tsx';

/** One question and its answer: a heading at the left, a note or one link at the right. */
export const Panel = (props: {
  id: string;
  title: string;
  side?: Child;
  hidden?: boolean;
  children: Child;
}) => (
  <section class="panel" aria-labelledby={props.id}>
    {props.hidden ? (
      <h2 class="sr-only" id={props.id}>
        {props.title}
      </h2>
    ) : (
      <header class="panel-head">
        <h2 id={props.id}>{props.title}</h2>
        {props.side}
      </header>
    )}
    {props.children}
  </section>
);

const noteIcons: { [mood in Mood]: IconName } = {
  ok: 'circle-check',
  warn: 'triangle-alert',
  bad: 'circle-alert',
  quiet: 'circle-dot',
};

/** A message about the whole page. Screen readers read it out. */
export const Note = (props: { mood: Mood; role?: 'status' | 'alert'; side?: Child; children: Child }) => (
  <div class={`note note-${props.mood}`} role={props.role}>
    <Icon name={noteIcons[props.mood]} />
    <div>{props.children}</div>
    {props.side && <div class="note-side">{props.side}</div>}
  </div>
);

/** Why a list is empty and what fills it, with one button if there is something to do. */
export const Empty = (props: { icon: IconName; title: string; action?: Child; children?: Child }) => (
  <div class="empty">
    <Icon name={props.icon} />
    <strong>{props.title}</strong>
    {props.children && <p>{props.children}</p>}
    {props.action}
  </div>
);

/** The properties of one thing; those that are null or undefined are left out. */
export const Facts = ({ facts }: { facts: [name: string, value: Child | null | undefined][] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
);

/** Three to five numbers, each with a second line that gives it a scale. */
export const Figures = (props: {
  figures: { name: string; value: Child; unit?: string; scale: Child }[];
}) => (
  <dl class="figures">
    {props.figures.map(({ name, value, unit, scale }) => (
      <div>
        <dt>{name}</dt>
        <dd>
          {value}
          {unit && <span class="unit"> {unit}</span>}
        </dd>
        <dd>{scale}</dd>
      </div>
    ))}
  </dl>
);

/** Two to five views of the same thing, of which one is shown. */
export const Segment = (props: {
  label: string;
  choices: { href: string; name: Child; current: boolean }[];
}) => (
  <nav class="segment" aria-label={props.label}>
    {props.choices.map(({ href, name, current }) => (
      <a href={href} aria-current={current ? 'true' : undefined}>
        {name}
      </a>
    ))}
  </nav>
);

/** A table whose rows become cards on a phone; cells say their part there by class and `data-label`. */
export const Table = (props: { caption: string; head: Child[]; flow?: boolean; children: Child }) => (
  <GroupedTable
    caption={props.caption}
    head={props.head}
    look={props.flow ? 'data-flow' : ''}
    groups={[{ rows: props.children }]}
  />
);

/** The head of a column of numbers. */
export const numeric = (name: string) => <span class="num-head">{name}</span>;

/** A table like `Table`, in groups with a heading each; a group without a name has none. */
export const GroupedTable = (props: {
  caption: string;
  head: Child[];
  look?: string;
  groups: { name?: Child; rows: Child }[];
}) => {
  const { caption, head, look = 'data-flow', groups } = props;
  return (
    <table class={`data data-cards ${look}`}>
      <caption class="sr-only">{caption}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col">{name || <span class="sr-only">Action</span>}</th>
          ))}
        </tr>
      </thead>
      {groups.map(({ name, rows }) => (
        <tbody>
          {name && (
            <tr class="group-row">
              <th scope="rowgroup" colspan={head.length}>
                {name}
              </th>
            </tr>
          )}
          {rows}
        </tbody>
      ))}
    </table>
  );
};

/** A filter that is set, with what removes it. */
export const Chip = ({ text, href }: { text: string; href: string }) => (
  <li>
    <a class="chip" href={href}>
      {text}
      <span class="sr-only">, remove</span>
      <Icon name="x" small />
    </a>
  </li>
);

/** What leads to older entries of a list, or back to its beginning; `names` for lists in another order. */
export const Pager = (props: {
  count: Child;
  newest?: string | undefined;
  older?: string | undefined;
  names?: [newest: string, older: string];
}) => {
  const { count, newest, older, names = ['Newest', 'Older'] } = props;
  return (
    <nav class="pager" aria-label="Pages">
      <span>{count}</span>
      <span class="actions">
        {newest && (
          <a class="btn btn-sm" href={newest}>
            <Icon name="chevron-left" />
            {names[0]}
          </a>
        )}
        {older && (
          <a class="btn btn-sm" href={older}>
            {names[1]}
            <Icon name="chevron-right" />
          </a>
        )}
      </span>
    </nav>
  );
};

/** The same for a list that is read in slices; nothing if it has one page only. */
export const SlicePager = (props: {
  c: Context;
  count: Child;
  slice: SliceQuery;
  next: SliceQuery['after'];
  names?: [newest: string, older: string];
}) => {
  const { c, count, slice, next, ...names } = props;
  const path = c.req.path;
  if (!slice.after && !next) return null;
  return (
    <Pager
      {...{ count, ...names }}
      newest={slice.after && path}
      older={next && `${path}?cursor=${cursorFor(c, next)}`}
    />
  );
};

/** A text for machines, which a click selects whole; with script, a button copies it. */
export const Copyable = ({ id, text }: { id: string; text: string }) => (
  <div class="secret mt-3">
    <code id={id} tabindex={0}>
      {text}
    </code>
    <button class="btn" type="button" data-copy={id} hidden>
      <Icon name="copy" />
      <span>Copy</span>
    </button>
  </div>
);

/** A part of a page that `live.js` replaces when something has changed; it is there even if it is empty. */
export const Live = (props: { id: string; class?: string; children: Child }) => (
  <div id={props.id} class={props.class ?? 'stack'} data-live>
    {props.children}
  </div>
);
