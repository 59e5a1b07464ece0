import type { Child } from 'hono/jsx';
import type { FieldError } from '../../platform/errors.ts';
import { Allowed } from './allowed.tsx';
import type { FormProblem } from './form.ts';
import { Icon, type IconName } from './icons.tsx';
import { Note } from './parts.tsx';

/** How much a button stands out: at most one of a page is `primary`; `danger` destroys something. */
export type Weight = 'primary' | 'plain' | 'danger' | 'ghost' | 'ghost danger';

const weights: { [weight in Weight]: string } = {
  primary: 'btn btn-primary',
  plain: 'btn',
  danger: 'btn btn-danger',
  ghost: 'btn btn-ghost',
  'ghost danger': 'btn btn-ghost btn-danger',
};

/** A button that does something, for people who may: a form of its own, because links must change nothing. */
export const PostButton = (props: { to: string; name: string; icon?: IconName; weight?: Weight }) => (
  <Allowed to={props.to}>
    <form method="post" action={props.to}>
      <button type="submit" class={weights[props.weight ?? 'plain']}>
        {props.icon && <Icon name={props.icon} />}
        {props.name}
      </button>
    </form>
  </Allowed>
);

/** A link that looks like a button, for people who may follow it. `about` names its object for those who do not see where it stands. */
export const LinkButton = (props: {
  href: string;
  name: string;
  icon?: IconName;
  weight?: Weight;
  small?: boolean;
  about?: string;
}) => (
  <Allowed to={props.href} method="GET">
    <a class={weights[props.weight ?? 'plain'] + (props.small ? ' btn-sm' : '')} href={props.href}>
      {props.icon && <Icon name={props.icon} />}
      {props.name}
      {props.about && <span class="sr-only"> {props.about}</span>}
    </a>
  </Allowed>
);

/** The button that sends a form; of several, `does` tells which one was pressed. */
export const Submit = (props: { name: string; weight?: Weight; does?: string }) => (
  <button
    type="submit"
    class={weights[props.weight ?? 'primary']}
    name={props.does && 'do'}
    value={props.does}
  >
    {props.name}
  </button>
);

/** A button of a form that has several: `does` tells which one was pressed, and `to` leads back to where it stands. */
export const FormButton = (props: {
  to: string;
  does: string;
  icon?: IconName;
  ghost?: boolean;
  children: Child;
}) => (
  <button
    class={`btn btn-sm${props.ghost ? ' btn-ghost' : ''}`}
    type="submit"
    name="do"
    value={props.does}
    formaction={props.to}
  >
    {props.icon && <Icon name={props.icon} />}
    {props.children}
  </button>
);

/** The question before something that cannot be undone, with a way back. */
export const Confirm = (props: {
  to: string;
  confirm: string;
  back: string;
  cancel: string;
  children: Child;
}) => (
  <section class="panel">
    <div class="panel-body stack">
      <p>{props.children}</p>
      <div class="actions">
        <PostButton to={props.to} name={props.confirm} weight="danger" />
        <LinkButton href={props.back} name={props.cancel} weight="ghost" />
      </div>
    </div>
  </section>
);

/** The error of a field, or of a part of it. */
export const errorOf = (errors: FieldError[] | undefined, name: string): string | undefined =>
  errors?.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message;

/** What is wrong with a form: what is not about any one field is shown under the field that matters most. */
export const errorsOfForm = (problem: FormProblem | undefined, mainField: string): FieldError[] => {
  if (!problem) return [];
  return problem.errors.length > 0 ? problem.errors : [{ field: mainField, message: problem.message }];
};

/** What is wrong with a field, under it. */
export const FieldProblem = ({ id, message }: { id: string; message: string | undefined }) =>
  message ? (
    <p class="field-error" id={id} role="alert">
      <Icon name="circle-alert" small />
      <span>{message}</span>
    </p>
  ) : null;

type Labelled = {
  name: string;
  label: string;
  hint?: string | undefined;
  errors?: FieldError[] | undefined;
};

/** A control with its label, a hint, and what is wrong with its value. */
const Control = (props: Labelled & { children: Child }) => {
  const { name, label, hint, errors, children } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <FieldProblem id={`${name}-error`} message={errorOf(errors, name)} />
    </div>
  );
};

/** What says of a control that its hint and its error are about it. */
const attributesOf = ({ name, hint, errors }: Labelled) => {
  const error = errorOf(errors, name);
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return {
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
    autofocus: error !== undefined,
  };
};

/** A labelled input. */
export const Field = (
  props: Labelled & {
    type?: string;
    value?: string;
    required?: boolean;
    autocomplete?: string;
    placeholder?: string;
    maxlength?: number;
  },
) => {
  const { name, label, hint, errors, type = 'text', value = '', ...rest } = props;
  return (
    <Control {...{ name, label, hint, errors }}>
      <input class="input" id={name} {...{ name, type, value, ...rest }} {...attributesOf(props)} />
    </Control>
  );
};

/** A labelled choice of one of several values. */
export const Select = (props: Labelled & { value: string; options: [value: string, name: string][] }) => {
  const { value, options, ...labelled } = props;
  return (
    <Control {...labelled}>
      <select class="select" id={props.name} name={props.name} {...attributesOf(props)}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </Control>
  );
};

/** A field to look for something by what it says in `hint`. */
export const Find = (props: {
  path: string;
  q: string | undefined;
  hint: string;
  button: string;
  look: string;
}) => (
  <form class={props.look} method="get" action={props.path}>
    <label class="sr-only" for="find">
      {props.hint}
    </label>
    <input
      class="input"
      id="find"
      type="search"
      name="q"
      value={props.q}
      placeholder={props.hint}
      maxlength={200}
    />
    <Submit name={props.button} weight="plain" />
  </form>
);

/** The actions of a page that are rarer than its buttons, in a menu. */
export const MoreActions = ({ children }: { children: Child }) => (
  <>
    <button class="btn" type="button" popovertarget="more" aria-label="More actions">
      <Icon name="ellipsis" />
    </button>
    <div class="dialog menu-list" id="more" popover="auto">
      {children}
    </div>
  </>
);

/** A checkbox or radio button with a second line. */
export const Choice = (props: {
  type: 'checkbox' | 'radio';
  name: string;
  value: string;
  checked: boolean;
  label: string;
  note?: Child;
}) => {
  const { type, label, note, ...input } = props;
  const look = type === 'radio' ? 'radio radio-primary radio-sm' : 'checkbox checkbox-primary checkbox-sm';
  return (
    <label class="choice">
      <input class={look} type={type} {...input} />
      <strong>{label}</strong>
      {note && <span class="sub">{note}</span>}
    </label>
  );
};

/** What went wrong with a whole form, when no field is to blame. */
export const Problem = ({ message }: { message: string | undefined }) =>
  message ? (
    <Note mood="bad" role="alert">
      <p>{message}</p>
    </Note>
  ) : null;
