import * as v from 'valibot';
import { isVisible, maxUrlLength, mustBeVisible } from '../platform/address.ts';
import { AtMost, Texts, Uuid } from '../platform/fields.ts';
import { ACCIDENT, EVENT, NotificationCode } from './notifications/types.ts';
import { options, type WebhookField, type WebhookOptions } from './options.ts';

const unique = <T>(values: T[]): T[] => [...new Set(values)];

export const maxWebhooks = 1000;

/** How many connections a webhook can name: as many as fit into 64 KiB. */
export const maxConnections = 1000;

export const refusedHeaders =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cf-.*|x-forwarded-.*|delivery-.*|webhook-.*)$/i;

const CustomHeaders = v.pipe(
  Texts,
  v.check((map) => Object.keys(map).length <= 50, 'can have at most 50 entries'),
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
    'must not name a header that the delivery itself sets (Host, Content-*, Connection, CF-*, ' +
      'X-Forwarded-*, Delivery-*, Webhook-* and the like)',
  ),
  v.check(
    (map) =>
      unique(Object.keys(map).map((name) => name.toLowerCase())).length === Object.keys(map).length,
    'must not name a header twice',
  ),
  v.metadata({ type: 'object', maxProperties: 50, additionalProperties: { type: 'string' } }),
);

/** The fields of the core; those of options come after them. */
export const coreFields = {
  connectionIds: {
    description:
      'The connections whose notifications it receives; each must belong to the account. ' +
      'May be empty: it then receives none. At most 1,000. Only with `allConnections` it may be left out.',
    example: ['01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7'],
    input: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase())),
        // A check is not in the contract, which was published with a higher limit that never worked.
        v.check((ids) => ids.length <= maxConnections, 'can have at most 1,000 values'),
        v.transform(unique),
      ),
    ),
    output: v.array(Uuid),
  },
  allConnections: {
    description:
      'Whether it covers all connections of the account, also those added later. `connectionIds` then lists what it ' +
      'covers now, and what is sent as `connectionIds` restricts nothing. If left out, it covers only the ' +
      '`connectionIds`.',
    example: undefined,
    input: v.optional(v.boolean('must be true or false')),
    output: v.optional(v.literal(true)),
  },
  url: {
    description: "The receiver's address: https, public, and unique within the account.",
    example: 'https://claims.example.com/fleet',
    input: v.pipe(
      v.string(),
      AtMost(maxUrlLength),
      v.check(isVisible, mustBeVisible),
      v.metadata({ format: 'uri' }),
    ),
    output: v.string(),
  },
  httpVerb: {
    description: 'The HTTP method of its deliveries.',
    example: 'POST',
    input: v.picklist(['POST', 'PUT'], 'must be POST or PUT'),
    output: v.picklist(['POST', 'PUT']),
  },
  headers: {
    description:
      'Sent with each delivery: a place for a secret that only you and the service know. At most 8 KiB.',
    example: { 'X-Fleet-Secret': 'a long random secret' },
    input: v.optional(CustomHeaders),
    output: v.record(v.string(), v.string()),
  },
  notificationTypes: {
    description: '1 accidents, 2 events.',
    example: [1, 2],
    input: v.pipe(
      v.array(NotificationCode),
      v.minLength(1, 'must have at least one value'),
      v.transform((types) => unique(types).sort()),
    ),
    output: v.array(v.pipe(v.number(), v.integer(), v.values([ACCIDENT, EVENT]))),
  },
} as const satisfies { [name: string]: WebhookField };

type Fields = typeof coreFields & Pick<WebhookOptions, keyof WebhookOptions>;

/** One property of each field's declaration, by name: of the core's, then of those of options. */
export function eachField<P extends 'description' | 'input' | 'output'>(part: P) {
  const added = options().map(({ name, field }) => [name, field]);
  const fields: { [name: string]: WebhookField } = { ...coreFields, ...Object.fromEntries(added) };
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field[part]])) as {
    [N in keyof Fields]: Fields[N][P]; // of these very fields
  };
}

/** Those that a column of the same name stores unchanged, and calls get. `service.ts` has the others. */
export const plainFields = ['url', 'httpVerb'] as const;
export type PlainField = (typeof plainFields)[number];

export function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>; // these very properties
}
