import * as v from 'valibot';
import { invalid } from '../platform/errors.ts';
import { fieldError, isPrintable, mustBePrintable, sentence } from '../platform/fields.ts';
import { type ReceiverPolicy, type ReceiverProblem, receiverProblem } from './address.ts';
import { ACCIDENT, EVENT } from './notifications/types.ts';

const unique = <T>(values: T[]): T[] => [...new Set(values)];

/** How many connections a webhook can name. This many fit into a request's 64 KiB beside everything else. */
export const maxConnections = 1000;
/** How long a webhook's url can be. */
export const maxUrlLength = 2048;

export const refusedHeaders =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cf-.*|x-forwarded-.*|delivery-.*)$/i;

const isStringMap = (input: unknown): input is Record<string, string> =>
  typeof input === 'object' &&
  input !== null &&
  !Array.isArray(input) &&
  Object.values(input).every((value) => typeof value === 'string');

const CustomHeaders = v.pipe(
  v.custom<Record<string, string>>(isStringMap, 'must be an object of strings'),
  v.check((map) => Object.keys(map).length <= 50, 'can be at most 50'),
  v.check((map) => JSON.stringify(map).length <= 8192, 'can be at most 8 KiB in total'),
  v.check(
    (map) => Object.keys(map).every((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)),
    'names must be RFC 9110 field names of at most 128 characters',
  ),
  v.check(
    (map) => Object.values(map).every((value) => /^(?:[!-~]([\t -~]*[!-~])?)?$/.test(value)),
    'values must be visible ASCII characters, with spaces only between them',
  ),
  v.check(
    (map) => !Object.keys(map).some((name) => refusedHeaders.test(name)),
    'must not name a header that the delivery itself sets (Host, Content-*, Connection, CF-*, X-Forwarded-*, Delivery-* and the like)',
  ),
  v.check(
    (map) => unique(Object.keys(map).map((name) => name.toLowerCase())).length === Object.keys(map).length,
    'must not name a header twice',
  ),
  v.metadata({ type: 'object', maxProperties: 50, additionalProperties: { type: 'string' } }),
);

/** What a client sends to create or replace a webhook. */
export const WebhookInput = v.object({
  connectionIds: v.pipe(
    v.array(v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase())),
    // As a check, which the contract does not show: it was published with a higher limit that never worked.
    v.check((ids) => ids.length <= maxConnections, 'can be at most 1,000'),
    v.transform(unique),
  ),
  url: v.pipe(
    v.string(),
    v.maxLength(maxUrlLength, 'can be at most 2,048 characters'),
    v.check(isVisible, 'must not contain white space, control characters or others that cannot be seen'),
    v.metadata({ format: 'uri' }),
  ),
  httpVerb: v.picklist(['POST', 'PUT'], 'must be POST or PUT'),
  headers: v.optional(CustomHeaders, {}),
  notificationTypes: v.pipe(
    v.array(
      v.pipe(
        v.picklist([ACCIDENT, EVENT], 'must be 1 (accident) or 2 (event)'),
        v.metadata({ type: 'integer' }),
      ),
    ),
    v.minLength(1, 'must have at least one value'),
    v.transform((types) => unique(types).sort()),
  ),
});
export type WebhookInput = v.InferOutput<typeof WebhookInput>;

/** How long the name of a webhook can be, and its description. */
export const maxWebhookName = 60;
export const maxWebhookDescription = 200;

const Label = (longest: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(longest, `can be at most ${longest} characters`),
    v.check(isPrintable, mustBePrintable),
    v.transform((text) => text || null),
  );

/** What the account's people call a webhook. Empty texts are none. */
export const WebhookLabels = v.object({
  name: Label(maxWebhookName),
  description: Label(maxWebhookDescription),
});

/** Whether every character of a url can be seen: what it shows is then what it is. */
function isVisible(url: string): boolean {
  return isPrintable(url) && !/[\s\p{Cf}]/u.test(url);
}

/** A webhook as clients see it. */
export const WebhookOutput = v.object({
  id: v.pipe(v.string(), v.uuid()),
  connectionIds: v.array(v.pipe(v.string(), v.uuid())),
  url: v.string(),
  httpVerb: v.picklist(['POST', 'PUT']),
  headers: v.record(v.string(), v.string()),
  notificationTypes: v.array(v.pipe(v.number(), v.integer(), v.values([ACCIDENT, EVENT]))),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type WebhookOutput = v.InferOutput<typeof WebhookOutput>;

const urlProblems = {
  'not https': { message: "Invalid URL, must use 'https'", field: 'must be an absolute https URL' },
  'not public': {
    message: 'Invalid URL, must be a public address',
    field: 'must not be a private, local or reserved address, nor this service itself',
  },
  'has credentials': {
    message: 'Invalid URL, must not contain credentials',
    field: 'must not contain a user name or password',
  },
  'reserved port': {
    message: 'Invalid URL, must use port 443 or one from 1024 up',
    field: 'must use port 443 or one from 1024 up',
  },
} satisfies Record<ReceiverProblem, { message: string; field: string }>;

/**
 * Validates the body of a create or update. Messages that the contract fixes come first; `errors` names
 * every invalid field.
 *
 * @throws Refusal: invalid
 */
export function parseWebhook(body: unknown, policy: ReceiverPolicy): WebhookInput {
  const result = v.safeParse(WebhookInput, body);
  const errors = result.success ? [] : result.issues.slice(0, 20).map(fieldError);
  if (errors[0]?.field === '') throw invalid(sentence(errors[0]), errors);

  const url = typeof body === 'object' && body && 'url' in body ? body.url : undefined;
  const tooLong = typeof url === 'string' && url.length > maxUrlLength;
  const problem = typeof url === 'string' ? receiverProblem(url, policy) : 'not https';
  if (problem && !tooLong) {
    const others = errors.filter((error) => error.field !== 'url');
    throw invalid(urlProblems[problem].message, [
      { field: 'url', message: url === undefined ? 'is required' : urlProblems[problem].field },
      ...others,
    ]);
  }
  if (!result.success) {
    const first = errors[0] ?? { field: '', message: 'is not valid' };
    const ids = first.field.startsWith('connectionIds.');
    throw invalid(ids ? 'Invalid connection ids' : sentence(first), errors);
  }
  return result.output;
}
