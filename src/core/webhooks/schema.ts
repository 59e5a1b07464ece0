import * as v from 'valibot';
import {
  maxUrlLength,
  type ReceiverPolicy,
  receiverProblem,
  urlProblems,
} from '../platform/address.ts';
import { invalid, invalidField } from '../platform/errors.ts';
import {
  checked,
  isObject,
  Line,
  maxErrors,
  sentence,
  UtcTime,
  Uuid,
  Whole,
} from '../platform/fields.ts';
import { QueryWords } from '../platform/query.ts';
import { eachField } from './fields.ts';
import { options, type ShownOnce } from './options.ts';

/** The body of a create. Like all that options add to, it is a function: they may be installed later. */
export const webhookInput = () => v.object(eachField('input'));
type InputSchema = ReturnType<typeof webhookInput>;
export type WebhookInput = WithConnections<v.InferOutput<InputSchema>>;
type WithConnections<T> = Omit<T, 'connectionIds'> & { connectionIds: string[] };

/** An update replaces the headers, so it says which there are. */
export function webhookUpdate() {
  const { entries } = webhookInput();
  return v.object({ ...entries, headers: v.unwrap(entries.headers) });
}

export const maxWebhookName = 60;
export const maxWebhookDescription = 200;

const Label = (longest: number) =>
  v.pipe(
    Line(longest),
    v.transform((text) => text || null),
  );

/** The account's own name and description of a webhook. Empty texts are none. */
export const WebhookLabels = v.object({
  name: Label(maxWebhookName),
  description: Label(maxWebhookDescription),
});

/** Whether deliveries are sent to a webhook now. */
export const WebhookState = v.object({
  status: v.picklist(['active', 'paused', 'waiting']),
  failures: Whole,
  nextAttemptAt: v.nullable(UtcTime),
});
export type WebhookState = v.InferOutput<typeof WebhookState>;

/** The parameters of the calls that read webhooks. */
export const WebhookQuery = v.object({ include: v.optional(QueryWords(['state'])) });

export const webhookOutput = () =>
  v.object({
    id: Uuid,
    ...eachField('output'),
    createdAt: UtcTime,
    ...shownOnce(),
    pausedAt: v.optional(UtcTime),
    state: v.optional(WebhookState),
  });
export type WebhookOutput = v.InferOutput<ReturnType<typeof webhookOutput>>;

/** What options show once, by name. */
const shownOnce = () =>
  Object.fromEntries(
    options()
      .flatMap((option) => Object.entries(option.shownOnce ?? {}))
      .map(([name, schema]) => [name, v.optional(schema)]),
  ) as { [N in keyof ShownOnce]: v.OptionalSchema<ShownOnce[N], undefined> }; // each declares its own

/**
 * Validates the body of a create, or of an update by its own schema. The contract's messages come first.
 * @throws Refusal: invalid
 */
export function parseWebhook(
  body: unknown,
  policy: ReceiverPolicy,
  schema: InputSchema | ReturnType<typeof webhookUpdate> = webhookInput(),
): WebhookInput {
  const { url, allConnections }: { [name: string]: unknown } = isObject(body) ? body : {};
  // Requests may repeat what only responses show, so that a webhook can be sent back as it was read.
  const readOnly = Object.keys(webhookOutput().entries).filter((name) => !(name in schema.entries));
  const result = checked(
    allConnections ? schema : v.required(schema as InputSchema, ['connectionIds']),
    body,
    readOnly,
  );
  const { errors } = result;
  if (errors[0]?.field === '') throw invalid(sentence(errors[0]), errors);

  const tooLong = typeof url === 'string' && url.length > maxUrlLength;
  const problem = typeof url === 'string' ? receiverProblem(url, policy) : 'not https';
  if (problem && !tooLong) {
    const others = errors.filter((error) => error.field !== 'url').slice(0, maxErrors - 1);
    const missing = { field: 'url', message: 'is required' };
    if (url === undefined || url === null) throw invalid(sentence(missing), [missing, ...others]);
    const code = problem === 'not https' ? 'url not https' : undefined;
    const { message, field } = urlProblems[problem];
    throw invalid(message, [{ field: 'url', message: field, code }, ...others]);
  }
  if (!('output' in result)) {
    const [first] = result.errors;
    const ids = first.field.startsWith('connectionIds.');
    throw invalid(ids ? 'Invalid connection ids' : sentence(first), errors);
  }
  const { connectionIds = [], ...output } = result.output;
  for (const { calls, problemOf } of options()) {
    const also = calls?.(output);
    const refused = also && receiverProblem(also.url, policy);
    if (refused) throw invalidField(also.field, urlProblems[refused].field);
    const wrong = problemOf?.(output);
    if (wrong) throw invalidField(wrong.field, wrong.message);
  }
  return { ...output, connectionIds };
}
