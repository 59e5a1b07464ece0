import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { parse } from '../../core/platform/fields.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { Allowed, Submit, type Weight } from '../buttons.tsx';
import { type Head, page } from '../layout.tsx';
import { Panel } from '../parts.tsx';
import type { SentForm } from '../reader.ts';
import { done, submit } from '../submit.ts';
import { Buttons, Choice, Choices, Field, Form, type Offered } from './forms.tsx';

/** A field of a form. Pages draw it (`drawn`), handlers get its valid value (`handles`). */
export type FormField<T = unknown> = {
  draw: (name: string, stored: unknown) => Child;
  read: (form: SentForm, name: string) => unknown;
  schema: v.GenericSchema<unknown, T>;
};
type Fields = { [name: string]: FormField };
export type Values<F extends Fields> = {
  [N in keyof F]: F[N] extends FormField<infer T> ? T : never;
};

/** What else is said of a field: its hint, or all that its control takes. */
type More<Props> = string | Partial<Omit<Props, 'name'>>;
const propsOf = <P extends object>(more: string | P) =>
  typeof more === 'string' ? { hint: more } : more;

export const line = <S extends v.GenericSchema<string, unknown>>(
  label: string,
  schema: S,
  more: More<Parameters<typeof Field>[0]> = {},
): FormField<v.InferOutput<S>> => ({
  draw: (name, stored = '') => (
    <Field {...{ name, label }} value={String(stored ?? '')} {...propsOf(more)} />
  ),
  read: ({ value }, name) => value(name),
  schema,
});

/** One of several values, in a menu, by default the first. */
export const choice = <T extends string>(label: string, options: Offered<T>[]): FormField<T> => ({
  draw: (name, stored) => <Field {...{ name, label, options }} value={String(stored ?? '')} />,
  read: ({ value }, name) => value(name),
  schema: v.picklist(
    options.map(([value]) => value),
    'must be one of the choices',
  ),
});

type OfChoices = More<Parameters<typeof Choices>[0]>;

/** One of several values, each with a line about it. */
export const radios = <T extends string>(
  legend: string,
  options: Offered<T>[],
  more: OfChoices = {},
): FormField<T> => ({
  ...choice(legend, options),
  draw: (name, stored) => (
    <Choices
      type="radio"
      {...{ name, legend, options }}
      chosen={[String(stored)]}
      {...propsOf(more)}
    />
  ),
});

/** Any of several values, in two columns. Nothing is drawn if there are none. */
export const boxes = (
  legend: string,
  options: Offered[],
  more: OfChoices = {},
): FormField<string[]> => ({
  draw: (name, stored) => {
    const chosen = [stored ?? []].flat().map(String);
    return (
      options.length > 0 && (
        <Choices columns={2} {...{ name, legend, options, chosen }} {...propsOf(more)} />
      )
    );
  },
  read: ({ values }, name) => values(name),
  schema: v.array(v.string()),
});

/** Yes or no. */
export const box = (label: string, note: Child): FormField<boolean> => ({
  draw: (name, stored) => (
    <Choice type="checkbox" value="yes" {...{ name, label, note }} checked={stored === true} />
  ),
  read: ({ value }, name) => value(name) === 'yes',
  schema: v.boolean(),
});

/** A field whose value is made of what is typed or chosen in another one. */
export const mapped = <T, U>(field: FormField<T>, as: (value: T) => U): FormField<U> => ({
  ...field,
  schema: v.pipe(field.schema, v.transform(as)),
});

/** Any of several numbers. */
export const numbers = (field: FormField<string[]>): FormField<number[]> =>
  mapped(field, (chosen) => chosen.map(Number));

/** What is typed in a line, without space around it. */
export const Trimmed = v.pipe(v.string(), v.trim());

/** The controls of fields, with what is stored under their names: for `filters.risk` as `risk`. */
export const drawn = (fields: Fields, stored: object | null = {}): Child[] =>
  Object.entries(fields).map(([name, { draw }]) =>
    draw(name, new Map(Object.entries(stored ?? {})).get(name.split('.').at(-1) ?? name)),
  );

/** A panel with one form, for people who may send it; `line` has the columns of a single line of fields. */
export const FormPanel = (props: {
  title: string;
  id?: string;
  lead?: string;
  to: string;
  send: string;
  weight?: Weight;
  line?: string;
  hint?: Child;
  fields?: Fields;
  stored?: object;
  children?: Child;
}) => {
  const {
    to,
    send,
    weight = 'primary',
    line,
    hint,
    fields = {},
    stored,
    children,
    ...head
  } = props;
  return (
    <Allowed to={to}>
      <Panel {...head}>
        <Form to={to} look="panel-body grid gap-4">
          <div class={line ? `grid gap-4 items-end ${line}` : 'contents'}>
            {drawn(fields, stored)}
            {children}
            <div>
              <Submit name={send} weight={weight} />
            </div>
          </div>
          {hint && <p class="hint">{hint}</p>}
        </Form>
      </Panel>
    </Allowed>
  );
};

/** What a form has in its fields. @throws Refusal: invalid, by field */
export const valuesIn = <F extends Fields>(fields: F, form: SentForm): Values<F> => {
  const each = Object.entries(fields);
  const schema = v.object(Object.fromEntries(each.map(([name, field]) => [name, field.schema])));
  const sent = Object.fromEntries(each.map(([name, field]) => [name, field.read(form, name)]));
  return parse(schema, sent) as Values<F>; // as the schemas of these very fields have it
};

/** The values that are not empty, under their names: of `filters.risk` as `risk`. */
export const filled = (values: { [name: string]: unknown }): { [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      String(value) === '' ? [] : [[name.split('.').at(-1) ?? name, value]],
    ),
  );

type Place = Parameters<typeof submit>[3];

/** Handles a form. If something is wrong, `show` shows it again; errors of no field stand at the first. */
export const handles =
  <F extends Fields>(
    fields: F,
    show: (c: Context) => Response | Promise<Response>,
    save: (c: Context, values: Values<F>, form: SentForm) => Promise<Response>,
    place: Place = Object.keys(fields)[0],
  ) =>
  (c: Context) =>
    submit(
      c,
      async (form) => save(c, valuesIn(fields, form), form),
      () => show(c),
      place,
    );

/** A page that is one form; something may stand `before` its fields. */
type FormPage<F extends Fields> = Head & {
  before?: Child;
  fields: F;
  stored?: object;
  send?: string;
  weight?: Weight;
  back: string;
  place?: Place;
  save: (values: Values<F>, form: SentForm) => Promise<Response>;
};

/** Shows the page, or handles its form. */
export function formPage<F extends Fields>(
  c: Context,
  described: FormPage<F>,
): Response | Promise<Response> {
  const {
    before,
    fields,
    stored,
    send = 'Save',
    weight = 'primary',
    back,
    place,
    save,
    ...head
  } = described;
  const show = () =>
    page(
      c,
      { ...head, narrow: true },
      <section class="panel" aria-label={head.title}>
        <Form look="panel-body grid gap-4">
          {before}
          {drawn(fields, stored)}
          <Buttons {...{ send, weight, back }} />
        </Form>
      </section>,
    );
  return c.req.method === 'GET'
    ? show()
    : handles(fields, show, (_, ...sent) => save(...sent), place)(c);
}

/** An irrevocable action: its question, its consequences, and the message afterwards. */
type Irrevocable = Pick<Head, 'title' | 'above'> & {
  text: Child;
  /** What is to be typed first. */
  typed?: string;
  does: (typed: string) => Promise<unknown>;
  said: string;
  /** Where it is asked, and the next page by default. */
  back: string;
  next?: string;
};

/** Handles both the page that asks and its form. */
export const confirmed = (describe: (c: Context) => Promise<Irrevocable>) => async (c: Context) => {
  const { text, typed, does, said, next, ...asked } = await describe(c);
  const fields = typed
    ? { typed: line(`Type “${typed}” to confirm`, Trimmed, { autocomplete: 'off' }) }
    : {};
  return formPage(c, {
    ...asked,
    before: <p>{text}</p>,
    fields,
    send: asked.title.replace('?', ''),
    weight: 'danger',
    save: async (values: { typed?: string }) => {
      await does(values.typed ?? '');
      return done(c, next ?? asked.back, said);
    },
  });
};
