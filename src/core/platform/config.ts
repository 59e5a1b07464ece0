import * as v from 'valibot';
import { dayMs } from './durations.ts';
import { invalid } from './errors.ts';
import { oncePer } from './remembered.ts';
import { Vars } from './vars.ts';

export type SealingKey = { id: string; bytes: Uint8Array };

const Config = v.pipe(
  Vars,
  v.transform((vars) => ({
    operatorKey: vars.OPERATOR_KEY,
    encryptionKeys: vars.ENCRYPTION_KEYS,
    cell: vars.CELL,
    origin: vars.ORIGIN,
    emailFrom: vars.EMAIL_FROM,
    retentionMs: vars.DELIVERY_RETENTION_DAYS * dayMs,
    hotDays: vars.HOT_DAYS,
    readReplicas: vars.READ_REPLICAS === 'true',
    awaitDeliveries: vars.AWAIT_DELIVERIES === 'true',
    mapStyleUrl: vars.MAP_STYLE_URL,
    dnsUrl: vars.DNS_URL,
    allowLoopbackReceivers: vars.ALLOW_LOOPBACK_RECEIVERS === 'true',
  })),
);

/** Parses the Worker's vars and secrets, once per isolate. @throws ValiError, when one is missing or invalid */
export const config = oncePer((env: Env) => v.parse(Config, env));

/** The address of the service, with which links begin. @throws Refusal: invalid, when it is not configured */
export function originOf(env: Env): string {
  const { origin } = config(env);
  if (!origin)
    throw invalid('ORIGIN is not set, so that there are no links. Run npm run deploy again.');
  return origin;
}
