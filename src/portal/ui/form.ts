import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';
import { type FieldError, invalid, refusalIn } from '../../platform/errors.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import type { Mood } from './states.tsx';

/** The fields of a form that was sent. A missing field is empty; of a repeated one `value` is the last. */
export type SentForm = { value: (name: string) => string; values: (name: string) => string[] };

/** Reads the form in the request's body. @throws Refusal: invalid, when the body is malformed */
export async function readForm(c: Context): Promise<SentForm> {
  const fields = await c.req.parseBody({ all: true }).catch(() => {
    throw invalid('The form could not be read. Go back and try again.');
  });
  const values = (name: string) => [fields[name] ?? []].flat().filter((value) => typeof value === 'string');
  return { value: (name) => values(name).at(-1) ?? '', values };
}

/** What is wrong with a form: a message about the whole, and errors by field. */
export type FormProblem = { message: string; errors: FieldError[] };

/** Does what a form asks for. If its input turns out to be invalid, `showAgain` returns the form with the problem. */
export async function submit(
  work: () => Promise<Response>,
  showAgain: (problem: FormProblem) => Promise<Response> | Response,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const failure = refusalIn(error)?.failure;
    if (failure?.kind !== 'invalid') throw error;
    return showAgain({ message: failure.message, errors: failure.errors ?? [] });
  }
}

/** The outcome of what somebody did, shown on the page that follows. */
const Flash = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ path: v.string(), mood: v.picklist(['ok', 'warn', 'bad', 'quiet']), text: v.string() }),
);

const cookie = 'flash';
const options = { path: '/portal', httpOnly: true, sameSite: 'Lax' } as const;

/** Browsers drop cookies of more than 4 KiB. */
const longestText = 600;

/** Redirects to a page of the portal, which says `text` on top until somebody goes elsewhere. */
export function done(c: Context, to: string, text: string, mood: Mood = 'ok'): Response {
  const path = to.split('?')[0] ?? to;
  const flash: v.InferOutput<typeof Flash> = { path, mood, text: text.slice(0, longestText) };
  setCookie(c, cookie, JSON.stringify(flash), { ...options, maxAge: 300 });
  return seeOther(c, to);
}

/** What to say on this page, reloads included; it is gone on the next. */
export function takeFlash(c: Context): { mood: Mood; text: string } | undefined {
  const sent = getCookie(c, cookie);
  if (sent === undefined) return undefined;
  const flash = v.safeParse(Flash, sent);
  if (flash.success && flash.output.path === c.req.path) return flash.output;
  deleteCookie(c, cookie, options);
  return undefined;
}
