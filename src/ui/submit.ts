import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { createContext } from 'hono/jsx';
import * as v from 'valibot';
import { type FieldError, invalid, refusalIn } from '../core/platform/errors.ts';
import { type Context, seeOther } from '../core/platform/http/context.ts';
import type { Mood } from './parts.tsx';
import type { Filled, SentForm } from './reader.ts';

/** Reads the form in the request's body. @throws Refusal: invalid, when the body is malformed */
export async function readForm(c: Context): Promise<SentForm & { fields: object }> {
  const fields = await c.req.parseBody({ all: true }).catch(() => {
    throw invalid('The form could not be read. Go back and try again.');
  });
  const values = (name: string) =>
    [fields[name] ?? []].flat().filter((value) => typeof value === 'string');
  return { value: (name) => values(name).at(-1) ?? '', values, fields };
}

type FormProblem = { message: string; errors: FieldError[]; code?: FieldError['code'] };

/** The form around a field, if it is shown again. */
export const FilledForm = createContext<Filled | undefined>(undefined);

declare module 'hono' {
  interface ContextVariableMap {
    /** The form that was sent to this path, to be shown again. */
    shownAgain?: Filled & { path: string };
  }
}

/** Makes the next page show the form as it was sent. */
export const showAgain = (c: Context, form: SentForm, errors: FieldError[] = []) =>
  c.set('shownAgain', { ...form, errors, path: c.req.path });

/** Handles the form in the body, or shows it again. `place` is the field of errors without one. */
export async function submit(
  c: Context,
  work: (form: SentForm) => Promise<Response>,
  show: (problem: FormProblem, form: SentForm) => Promise<Response> | Response,
  place: string | ((error: FieldError, form: SentForm) => FieldError) = '',
): Promise<Response> {
  const form = await readForm(c);
  const outcome = await orProblem(() => work(form));
  if (outcome instanceof Response) return outcome;
  const { message, errors, code } = outcome;
  const found = errors.length > 0 ? errors : [{ field: '', message, code }];
  const placed = found.map((error) =>
    typeof place === 'string' ? { ...error, field: error.field || place } : place(error, form),
  );
  showAgain(c, form, placed);
  return show(outcome, form);
}

/** The result of some work, or what is wrong with its input. */
export async function orProblem<T>(work: () => Promise<T>): Promise<T | FormProblem> {
  try {
    return await work();
  } catch (error) {
    const failure = refusalIn(error)?.failure;
    if (failure?.kind !== 'invalid') throw error;
    return { message: failure.message, errors: failure.errors ?? [], code: failure.code };
  }
}

/** The fields of a form in the page's address, and their errors. */
export const filledIn = (fields: { [name: string]: string }, errors: FieldError[]): Filled => {
  const value = (name: string) => fields[name] ?? '';
  return { value, values: (name) => [value(name)], errors };
};

/** A result to show on the next page. */
const Flash = v.object({
  path: v.string(),
  mood: v.picklist(['ok', 'warn', 'bad', 'quiet']),
  text: v.string(),
});
type Flash = v.InferOutput<typeof Flash>;

const cookie = 'flash';
const options = { path: '/portal', httpOnly: true, sameSite: 'Lax' } as const;

/** Browsers drop cookies of more than 4 KiB. */
const longestText = 600;

/** Redirects to a page, which shows `text` until it is left. */
export function done(c: Context, to: string, text: string, mood: Mood = 'ok'): Response {
  const flash: Flash = { path: to.split('?')[0] ?? to, mood, text: text.slice(0, longestText) };
  setCookie(c, cookie, JSON.stringify(flash), { ...options, maxAge: 300 });
  return seeOther(c, to);
}

/** The result to show on this page, also after a reload; it is gone on the next page. */
export function takeFlash(c: Context): Flash | undefined {
  const flash = v.safeParse(v.pipe(v.string(), v.parseJson(), Flash), getCookie(c, cookie));
  if (flash.success && flash.output.path === c.req.path) return flash.output;
  if (getCookie(c, cookie) !== undefined) deleteCookie(c, cookie, options);
  return undefined;
}
