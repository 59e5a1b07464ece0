import { type FieldError, invalid, refusalIn } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';

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
