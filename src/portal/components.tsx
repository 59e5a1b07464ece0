import type { Child } from 'hono/jsx';
import type { FieldError } from '../errors.ts';

/** A button that does something. It is a form of its own, because following a link must not change anything. */
export const PostButton = ({ to, name, quiet = false }: { to: string; name: string; quiet?: boolean }) => (
  <form method="post" action={to}>
    <button type="submit" class={quiet ? 'outline secondary' : undefined}>
      {name}
    </button>
  </form>
);

/** The question before something that cannot be undone, with a way back. */
export const Confirm = (props: {
  to: string;
  confirm: string;
  back: string;
  cancel: string;
  children: Child;
}) => (
  <>
    <p>{props.children}</p>
    <div class="actions">
      <PostButton to={props.to} name={props.confirm} />
      <a href={props.back}>{props.cancel}</a>
    </div>
  </>
);

/** A labelled input, with a hint or with what is wrong with its value. */
export const Field = (props: {
  name: string;
  label: string;
  type?: string;
  value?: string;
  required?: boolean;
  autocomplete?: string;
  hint?: string;
  errors?: FieldError[];
}) => {
  const { name, label, type = 'text', value = '', required = false, autocomplete, hint, errors = [] } = props;
  const error = errors.find(({ field }) => field === name || field.startsWith(`${name}.`));
  const note = error?.message ?? hint;
  return (
    <label>
      {label}
      <input
        name={name}
        type={type}
        value={value}
        required={required}
        autocomplete={autocomplete}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={note ? `${name}-note` : undefined}
      />
      {note && <small id={`${name}-note`}>{note}</small>}
    </label>
  );
};

/** What went wrong. Screen readers read it out. */
export const Problem = ({ message }: { message: string | undefined }) =>
  message ? (
    <p class="notice bad" role="alert">
      {message}
    </p>
  ) : null;

/** A table that scrolls on its own on a narrow screen. */
export const Table = ({ caption, head, children }: { caption: string; head: string[]; children: Child }) => (
  <section class="table" aria-label={caption} tabindex={0}>
    <table class="striped">
      <thead>
        <tr>{head.map((name) => (name ? <th scope="col">{name}</th> : <td />))}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);

/** A point in time, in UTC. */
export const Time = ({ at }: { at: number | string | null }) => {
  if (at === null) return <>–</>;
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>;
};

const statusClasses = { delivered: 'good', failed: 'bad', pending: 'wait', cancelled: '' };
/** The status of a delivery. */
export const Status = ({ status }: { status: keyof typeof statusClasses }) => (
  <span class={`tag ${statusClasses[status]}`}>{status}</span>
);

/** A risk from 1 to 5; 4 and 5 stand out. */
export const Risk = ({ risk }: { risk: number }) => (
  <span class={`tag ${risk >= 4 ? 'bad' : ''}`}>
    {risk >= 4 ? <strong>risk {risk}</strong> : `risk ${risk}`}
  </span>
);
