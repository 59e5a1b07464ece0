import * as v from 'valibot';
import { cellName, mainCell } from './cells.ts';
import { EmailAddress } from './fields.ts';

/** The minimum of HOT_DAYS: D1 has every safety event that may still be news. */
export const minHotDays = 7;

const Days = v.pipe(v.string(), v.transform(Number), v.integer('must be a whole number of days'));
const Choice = v.picklist(['true', 'false'], 'must be true or false');

/** The Worker's vars and secrets, as they are set. A deploy accepts what this does. */
export const Vars = v.object({
  OPERATOR_KEY: v.pipe(v.string(), v.minLength(32)),
  /** Encryption keys, newest first: `id:base64` of 32 bytes each, separated by commas. */
  ENCRYPTION_KEYS: v.pipe(
    v.string(),
    v.transform((text) =>
      text.split(',').map((entry) => {
        const [id = '', key = ''] = entry.trim().split(':');
        return { id, key };
      }),
    ),
    v.check(
      (keys) => keys.every(({ id, key }) => id !== '' && /^\s*[a-z\d+/]{43}=?$/i.test(key)),
      'must be id:base64 of 32 bytes',
    ),
    v.check(
      (keys) => new Set(keys.map(({ id }) => id)).size === keys.length,
      'must have a different id for each key',
    ),
    v.transform((keys) => keys.map(({ id, key }) => ({ id, bytes: Uint8Array.fromBase64(key) }))),
  ),
  CELL: v.optional(
    v.pipe(
      v.string(),
      v.regex(cellName, 'must be up to 16 lowercase letters and digits, starting with a letter'),
    ),
    mainCell,
  ),
  /** The public address of this deployment, for links in emails, whatever host a request was made to. */
  ORIGIN: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => URL.parse(text)?.origin === text,
        'must be such as https://api.example.com',
      ),
    ),
  ),
  /** The sender of sign-in links and alerts; without it no email is sent. */
  EMAIL_FROM: v.optional(EmailAddress),
  /** How many days finished deliveries are kept. */
  DELIVERY_RETENTION_DAYS: v.optional(v.pipe(Days, v.minValue(7, 'must be 7 days or more')), '30'),
  /** How many days safety events and trips stay in D1 before they are archived; 0 archives nothing. */
  HOT_DAYS: v.optional(
    v.pipe(
      Days,
      v.check(
        (days) => days === 0 || days >= minHotDays,
        `must be 0, or ${minHotDays} days or more`,
      ),
    ),
    '30',
  ),
  /** Set by `npm run deploy -- --replicas`: lists are read from the nearest replica of D1. */
  READ_REPLICAS: v.optional(Choice, 'false'),
  /** Whether a queue message is acknowledged when its work is done, instead of at once. */
  AWAIT_DELIVERIES: v.optional(Choice, 'false'),
  /** A tile provider's style for the portal's maps; without it they show built-in outlines. */
  MAP_STYLE_URL: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.parse(text)?.protocol === 'https:', 'must be an https URL'),
    ),
  ),
  /** Set only by tests: what is asked for TXT records. */
  DNS_URL: v.optional(v.string(), 'https://cloudflare-dns.com/dns-query'),
  /** Set only by local runs and tests: allows webhooks that point to this machine. */
  ALLOW_LOOPBACK_RECEIVERS: v.optional(Choice, 'false'),
});
