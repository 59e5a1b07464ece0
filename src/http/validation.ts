import * as v from 'valibot';
import { type FieldError, invalid, Refusal } from '../errors.ts';
import type { Context } from './context.ts';

/**
 * Reads a JSON body of at most `limitBytes`.
 *
 * @throws Refusal: not json, too large, or invalid when it is not UTF-8 or not JSON (design 5)
 */
export async function readJson(c: Context, limitBytes: number): Promise<unknown> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal({ kind: 'not json' });
  const bytes = await readAtMost(c.req.raw, limitBytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalid('Request body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('Request body is not valid JSON');
  }
}

/**
 * Checks `input` against `schema`. The refusal names every wrong field, and its message the first of them.
 *
 * @throws Refusal: invalid
 */
export function parse<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const errors = result.issues.slice(0, 20).map(fieldError);
  throw invalid(sentence(errors[0] ?? { field: '', message: 'is not valid' }), errors);
}

/** The field and what it must be, as one sentence: `httpVerb must be POST or PUT`. */
export const sentence = ({ field, message }: FieldError): string => `${field || 'Request body'} ${message}`;

/** Says what is wrong with a field, without its value. */
export function fieldError(issue: v.BaseIssue<unknown>): FieldError {
  return { field: issue.path?.map((item) => String(item.key)).join('.') ?? '', message: messageOf(issue) };
}

function messageOf(issue: v.BaseIssue<unknown>): string {
  const ownWords = !issue.message.startsWith('Invalid ');
  if (ownWords) return issue.message;
  const missing = issue.received === 'undefined' || issue.path?.at(-1)?.value === undefined;
  if (issue.kind === 'schema')
    return missing && issue.path ? 'is required' : `must be ${expectations[issue.type] ?? 'valid'}`;
  return 'is not valid';
}

/** What the schemas in use expect, in words. */
const expectations: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

async function readAtMost(request: Request, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = new Refusal({ kind: 'too large', limitBytes });
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limitBytes) throw tooLarge;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
