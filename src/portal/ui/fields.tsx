import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { Buttons, Choice, Choices, Field, Form, type Offered, Select } from './forms.tsx';
import { type Head, page } from './layout.tsx';
import type { SentForm } from './reader.ts';
import { submit } from './submit.ts';

/**
 * A field of a form: its control, what a form that was sent has in it, and what is valid. A form is declared by its
 * fields, which the page draws (`drawn`), and the handler gets (`handles`).
 */
export type FormField<T = unknown> = {
  draw: (name: string) => Child;
  read: (form: SentForm, name: string) => unknown;
  schema: v.GenericSchema<unknown, T>;
};
type Fields = { [name: string]: FormField };
export type Values<F extends Fields> = { [N in keyof F]: F[N] extends FormField<infer T> ? T : never };

type PropsOf<P, Given extends string> = Omit<P, 'name' | 'label' | 'legend' | Given>;
type OfList = PropsOf<Parameters<typeof Choices>[0], 'type' | 'options'>;

/** A line of text. */
export const line = <S extends v.GenericSchema<string, unknown>>(
  label: string,
  schema: S,
  props: PropsOf<Parameters<typeof Field>[0], never> = {},
): FormField<v.InferOutput<S>> => ({
  draw: (name) => <Field {...{ name, label }} {...props} />,
  read: ({ value }, name) => value(name),
  schema,
});

const oneOf = <T extends string>(options: readonly Offered<T>[]) =>
  v.picklist(
    options.map(([value]) => value),
    'must be one of the choices',
  );

/** One of several values, in a menu. */
export const choice = <T extends string>(
  label: string,
  options: Offered<T>[],
  props: PropsOf<Parameters<typeof Select>[0], 'options'> = {},
): FormField<T> => ({
  draw: (name) => <Select {...{ name, label, options }} {...props} />,
  read: ({ value }, name) => value(name),
  schema: oneOf(options),
});

/** One of several values, each with a line about it. */
export const radios = <T extends string>(
  legend: string,
  options: Offered<T>[],
  props: OfList = {},
): FormField<T> => ({
  draw: (name) => <Choices type="radio" {...{ name, legend, options }} {...props} />,
  read: ({ value }, name) => value(name),
  schema: oneOf(options),
});

/** Any of several values. Nothing is drawn if there are none, and nothing to say about it. */
export const boxes = (legend: string, options: Offered[], props: OfList = {}): FormField<string[]> => ({
  draw: (name) => (options.length > 0 || props.hint) && <Choices {...{ name, legend, options }} {...props} />,
  read: ({ values }, name) => values(name),
  schema: v.array(v.string()),
});

/** Yes or no. */
export const box = (label: string, note: Child, checked: boolean): FormField<boolean> => ({
  draw: (name) => <Choice type="checkbox" value="yes" {...{ name, label, note, checked }} />,
  read: ({ value }, name) => value(name) === 'yes',
  schema: v.boolean(),
});

export const drawn = (fields: Fields): Child[] =>
  Object.entries(fields).map(([name, { draw }]) => draw(name));

/** What a form has in its fields. @throws Refusal: invalid, by field */
export const valuesIn = <F extends Fields>(fields: F, form: SentForm): Values<F> => {
  const each = Object.entries(fields);
  const schema = v.object(Object.fromEntries(each.map(([name, field]) => [name, field.schema])));
  const sent = Object.fromEntries(each.map(([name, field]) => [name, field.read(form, name)]));
  return parse(schema, sent) as Values<F>; // as the schemas of these very fields have it
};

/** Handles a form: what is wrong with none of its fields stands at the first, on the page that `show` shows again. */
export const handles =
  <F extends Fields>(
    fields: F,
    show: (c: Context) => Response | Promise<Response>,
    save: (c: Context, values: Values<F>) => Promise<Response>,
  ) =>
  (c: Context) =>
    submit(
      c,
      async (form) => save(c, valuesIn(fields, form)),
      () => show(c),
      Object.keys(fields)[0],
    );

/** A page that is one form. */
type FormPage<F extends Fields> = Head & {
  fields: F;
  send?: string;
  back: string;
  save: (values: Values<F>) => Promise<Response>;
};

/** Shows the page, or handles its form. */
export function formPage<F extends Fields>(c: Context, described: FormPage<F>): Response | Promise<Response> {
  const { fields, send = 'Save', back, save, ...head } = described;
  const show = () =>
    page(
      c,
      head,
      <section class="panel" aria-label={head.title}>
        <Form look="panel-body grid gap-4">
          {drawn(fields)}
          <Buttons send={send} back={back} />
        </Form>
      </section>,
    );
  return c.req.method === 'GET' ? show() : handles(fields, show, (_, values) => save(values))(c);
}
