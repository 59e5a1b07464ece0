import * as v from 'valibot';

const Config = v.object({
  OPERATOR_KEY: v.pipe(v.string(), v.minLength(32)),
  /** Set by local runs and tests alone: lets webhooks point to this machine. */
  ALLOW_LOOPBACK_RECEIVERS: v.optional(v.picklist(['true', 'false']), 'false'),
});

/** The Worker's vars and secrets, checked. */
export type Config = { operatorKey: string; allowLoopbackReceivers: boolean };

const parsed = new WeakMap<Env, Config>();

/** Parses the Worker's vars and secrets, once for each isolate; throws when one is missing or wrong. */
export function config(env: Env): Config {
  const known = parsed.get(env);
  if (known) return known;
  const vars = v.parse(Config, env);
  const fresh = {
    operatorKey: vars.OPERATOR_KEY,
    allowLoopbackReceivers: vars.ALLOW_LOOPBACK_RECEIVERS === 'true',
  };
  parsed.set(env, fresh);
  return fresh;
}
