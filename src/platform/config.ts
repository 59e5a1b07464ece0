import * as v from 'valibot';
import { dayMs } from './durations.ts';

/** The fewest days before records may go to the archive: what is younger is never there. */
export const minHotDays = 30;

const Vars = v.object({
  OPERATOR_KEY: v.pipe(v.string(), v.minLength(32)),
  /** Keys for what is sealed in D1, newest first: `id:base64` of 32 bytes each, separated by commas. */
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
  /** Where people reach this deployment: links in emails lead there, whatever host a request was made to. */
  ORIGIN: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.parse(text)?.origin === text, 'an origin, such as https://api.example.com'),
    ),
  ),
  /** The sender of sign-in links and alerts. A deployment without one sends no mail. */
  EMAIL_FROM: v.optional(v.pipe(v.string(), v.email())),
  /** How many days the rows of finished deliveries are kept. */
  DELIVERY_RETENTION_DAYS: v.optional(
    v.pipe(v.string(), v.transform(Number), v.integer(), v.minValue(7)),
    '30',
  ),
  /** How many days safety events, trips and accidents stay in D1 before they go to the archive; 0 keeps them all. */
  HOT_DAYS: v.optional(
    v.pipe(
      v.string(),
      v.transform(Number),
      v.integer(),
      v.check((days) => days === 0 || days >= minHotDays, `0, or ${minHotDays} or more`),
    ),
    '180',
  ),
  /** Set by `npm run deploy -- --replicas`: lists are read from the replica of D1 that is nearest. */
  READ_REPLICAS: v.optional(v.picklist(['true', 'false']), 'false'),
  /** Whether a message of the queue is acknowledged once its work is done, instead of at once. */
  AWAIT_DELIVERIES: v.optional(v.picklist(['true', 'false']), 'false'),
  /** The style of a tile provider for the portal's maps; without it they show the outlines that are built in. */
  MAP_STYLE_URL: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => URL.parse(text)?.protocol === 'https:', 'an https URL'),
    ),
  ),
  /** Only set by local runs and tests: allows webhooks to point to this machine. */
  ALLOW_LOOPBACK_RECEIVERS: v.optional(v.picklist(['true', 'false']), 'false'),
});

/** A key, and the id under which rows name it. */
export type SealingKey = { id: string; bytes: Uint8Array };

/** The Worker's vars and secrets, as the service uses them. */
const Config = v.pipe(
  Vars,
  v.transform((vars) => ({
    operatorKey: vars.OPERATOR_KEY,
    headerKeys: vars.HEADER_KEYS,
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

const parsed = new WeakMap<Env, v.InferOutput<typeof Config>>();

/** Parses the Worker's vars and secrets, once per isolate. @throws ValiError when one is missing or invalid */
export function config(env: Env): v.InferOutput<typeof Config> {
  const known = parsed.get(env);
  if (known) return known;
  const fresh = v.parse(Config, env);
  parsed.set(env, fresh);
  return fresh;
}
