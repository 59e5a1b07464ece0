import { type Child, useContext } from 'hono/jsx';
import { Allowed, Icon, LinkButton, PostForm, Submit, type Weight } from '../buttons.tsx';
import { Note } from '../parts.tsx';
import { PageReader } from '../reader.ts';
import { FilledForm } from '../submit.ts';
import { firstDay } from '../time.tsx';

/** A form for people who may send it, with input and errors if shown again; `to` another page. */
export const Form = (props: { to?: string; look?: string; children: Child }) => {
  const { to, look, children } = props;
  const sent = useContext(PageReader).shownAgain;
  const isSent = to === undefined || to.split(/[?#]/)[0] === sent?.path;
  const filled = isSent ? sent : undefined;
  const form = (
    <PostForm to={to} look={look}>
      <FormError message={filled?.errors.find(({ field }) => field === '')?.message} />
      <FilledForm.Provider value={filled}>{children}</FilledForm.Provider>
    </PostForm>
  );
  return to === undefined ? form : <Allowed to={to}>{form}</Allowed>;
};

/** The buttons at the end of a form: the one that sends it, and the way back. */
export const Buttons = (props: { send: string; weight?: Weight; back?: string; does?: string }) => {
  const { send, weight = 'primary', back, does } = props;
  return (
    <div class="actions">
      <Submit name={send} weight={weight} does={does} />
      {back && <LinkButton href={back} name="Cancel" weight="ghost" />}
    </div>
  );
};

const errorOf = (name: string): string | undefined =>
  useContext(FilledForm)?.errors.find(({ field }) => field === name || field.startsWith(`${name}.`))
    ?.message;

/** The hint and the error of a control. The error of `several` has the focus, to be in view. */
export const BelowControl = (props: { name: string; hint?: Child; several?: boolean }) => {
  const { name, hint, several = false } = props;
  const error = errorOf(name);
  return (
    <>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p
          class="field-error"
          id={`${name}-error`}
          role="alert"
          tabindex={several ? -1 : undefined}
          autofocus={several}
        >
          <Icon name="circle-alert" small />
          <span>{error}</span>
        </p>
      )}
    </>
  );
};

const describedBy = (name: string, hint: Child): string | undefined =>
  [hint && `${name}-hint`, errorOf(name) && `${name}-error`].filter(Boolean).join(' ') || undefined;

/** A value to choose, and its name. */
export type Offered<T extends string = string> = [value: T, name: string, note?: Child];

/** Values that are their own names. */
export const offered = (values: readonly string[]) =>
  values.map((value): Offered => [value, value]);

/** A labelled input, or a menu of `options`. Passwords are not shown again, unless they have to be. */
export const Field = (props: {
  name: string;
  label: string;
  hint?: string | undefined;
  options?: Offered[] | undefined;
  type?: string;
  value?: string | undefined;
  required?: boolean;
  autocomplete?: string;
  placeholder?: string | undefined;
  maxlength?: number;
  comesBack?: boolean;
}) => {
  const {
    name,
    label,
    hint,
    options,
    type,
    value = '',
    comesBack = type !== 'password',
    ...rest
  } = props;
  const filled = useContext(FilledForm);
  const shown = comesBack ? (filled?.value(name) ?? value) : value;
  const control = {
    ...{ id: name, name },
    'aria-invalid': errorOf(name) ? ('true' as const) : undefined,
    'aria-describedby': describedBy(name, hint),
    autofocus: errorOf(name) !== undefined,
  };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {options ? (
        <select class="select" {...control}>
          {options.map(([option, text]) => (
            <option value={option} selected={option === shown}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input
          class="input"
          type={type ?? 'text'}
          min={type === 'date' ? firstDay : undefined}
          value={shown}
          {...rest}
          {...control}
        />
      )}
      <BelowControl name={name} hint={hint} />
    </div>
  );
};

/** With more choices than this they scroll, and can be searched. */
const plenty = 8;

/** Values to choose from, of which one or several are checked, with the error of the choice. */
export const Choices = (props: {
  type?: 'checkbox' | 'radio';
  name: string;
  legend: string;
  hint?: Child;
  columns?: 2 | 4 | undefined;
  look?: string;
  chosen?: string[] | undefined;
  options: Offered[];
}) => {
  const {
    type = 'checkbox',
    name,
    legend,
    hint,
    columns,
    look = 'field',
    chosen = [],
    options,
  } = props;
  const many = options.length > plenty;
  return (
    <fieldset class={look} id={name} aria-describedby={describedBy(name, hint)}>
      <legend class="legend mb-2">{legend}</legend>
      {many && (
        <input
          class="input mb-2"
          type="search"
          placeholder="Find"
          aria-label={`Find in ${legend}`}
          data-filter={`${name}-choices`}
          hidden
        />
      )}
      <div
        class={`choices${columns ? ` choices-${columns}` : ''}${many ? ' choices-many' : ''}`}
        id={`${name}-choices`}
      >
        {options.map(([value, label, note]) => (
          <Choice {...{ type, name, value, label, note }} checked={chosen.includes(value)} />
        ))}
      </div>
      <BelowControl name={name} hint={hint} several />
    </fieldset>
  );
};

/** A search field; `hint` says what it finds. */
export const Find = (props: {
  path: string;
  q: string | undefined;
  hint: string;
  button: string;
  look: string;
  /** Whether `filters.js` shows the results while people type. */
  live?: boolean;
}) => (
  <form class={props.look} method="get" action={props.path} data-filters={props.live}>
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
    <span class="contents" data-apply={props.live}>
      <Submit name={props.button} weight="plain" />
    </span>
  </form>
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
  const { type, label, note, checked, ...input } = props;
  const filled = useContext(FilledForm);
  const isChecked = filled ? filled.values(input.name).includes(input.value) : checked;
  const look =
    type === 'radio' ? 'radio radio-primary radio-sm' : 'checkbox checkbox-primary checkbox-sm';
  return (
    <label class="choice">
      <input class={look} type={type} {...input} checked={isChecked} />
      <strong>{label}</strong>
      {note && <span class="sub">{note}</span>}
    </label>
  );
};

/** The error of a whole form. The focus brings it into view. */
export const FormError = ({ message }: { message: string | undefined }) => (
  <>
    {message && (
      <div tabindex={-1} autofocus>
        <Note mood="bad" role="alert" children={message} />
      </div>
    )}
  </>
);
