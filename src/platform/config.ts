import * as v from 'valibot';
import { cellName, mainCell } from './cells.ts';
import { dayMs } from './durations.ts';
import { EmailAddress } from './fields.ts';
import { oncePer } from './once.ts';

/** The minimum of HOT_DAYS: D1 has every safety event that may still be news. */
export const minHotDays = 7;

const Vars = v.object({
  OPERATOR_KEY: v.pipe(v.string(), v.minLength(32)),
  /** Encryption keys, newest first: `id:base64` of 32 bytes each, separated by commas. */
  HEADER_KEYS: v.pipe(
    v.string(),
    v.transform((text) =>
      text.split(',').map((entry) => {
        const [id = '', key = ''] = entry.trim().split(':');
        return { id, bytes: Uint8Array.fromBase64(key) };
      }),
    ),
    v.minLength(1),
    v.check(
      (keys) => keys.every(({ id, bytes }) => id !== '' && bytes.length === 32),
      'id:base64 of 32 bytes',
    ),
  ),
  /** The name of this cell. */
  CELL: v.optional(v.pipe(v.string(), v.regex(cellName)), mainCell),
  /** The public address of this deployment, for links in emails, whatever host a request was made to. */
  ORIGIN: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.parse(text)?.origin === text, 'an origin, such as https://api.example.com'),
    ),
  ),
  /** The sender of sign-in links and alerts; without it no email is sent. */
  EMAIL_FROM: v.optional(EmailAddress),
  /** How many days finished deliveries are kept. */
  DELIVERY_RETENTION_DAYS: v.optional(
    v.pipe(v.string(), v.transform(Number), v.integer(), v.minValue(7)),
    '30',
  ),
  /** How many days safety events and trips stay in D1 before they are archived; 0 archives nothing. */
  HOT_DAYS: v.optional(
    v.pipe(
      v.string(),
      v.transform(Number),
      v.integer(),
      v.check((days) => days === 0 || days >= minHotDays, `0, or ${minHotDays} or more`),
    ),
    '180',
  ),
  /** Set by `npm run deploy -- --replicas`: lists are read from the nearest replica of D1. */
  READ_REPLICAS: v.optional(v.picklist(['true', 'false']), 'false'),
  /** Whether a queue message is acknowledged when its work is done, instead of at once. */
  AWAIT_DELIVERIES: v.optional(v.picklist(['true', 'false']), 'false'),
  /** A tile provider's style for the portal's maps; without it they show built-in outlines. */
  MAP_STYLE_URL: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.parse(text)?.protocol === 'https:', 'an https URL'),
    ),
  ),
  /** Set only by local runs and tests: allows webhooks that point to this machine. */
  ALLOW_LOOPBACK_RECEIVERS: v.optional(v.picklist(['true', 'false']), 'false'),
});

export type SealingKey = { id: string; bytes: Uint8Array };

const Config = v.pipe(
  Vars,
  v.transform((vars) => ({
    operatorKey: vars.OPERATOR_KEY,
    headerKeys: vars.HEADER_KEYS,
    cell: vars.CELL,
    origin: vars.ORIGIN,
    emailFrom: vars.EMAIL_FROM,
    retentionMs: vars.DELIVERY_RETENTION_DAYS * dayMs,
    hotDays: vars.HOT_DAYS,
    readReplicas: vars.READ_REPLICAS === 'true',
    awaitDeliveries: vars.AWAIT_DELIVERIES === 'true',
    mapStyleUrl: vars.MAP_STYLE_URL,
    allowLoopbackReceivers: vars.ALLOW_LOOPBACK_RECEIVERS === 'true',
  })),
);

/** Parses the Worker's vars and secrets, once per isolate. @throws ValiError, when one is missing or invalid */
export const config = oncePer((env: Env) => v.parse(Config, env));
