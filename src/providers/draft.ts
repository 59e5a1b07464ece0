import * as v from 'valibot';
import { config } from '../platform/config.ts';
import { seal, unseal } from '../platform/crypto.ts';

export const draftMs = 15 * 60_000;

/** Encrypts a draft for a page between test and save. Only the session can use it, for 15 minutes. */
export async function sealDraft(env: Env, sessionHash: string, draft: Draft): Promise<string> {
  const until = String(Date.now() + draftMs);
  return JSON.stringify(await seal(config(env).headerKeys, boundTo(sessionHash), { ...draft, until }));
}

/** The draft of a page; undefined if it is too old, another session's, or invalid. */
export async function openDraft(
  env: Env,
  sessionHash: string,
  text: string,
  now = Date.now(),
): Promise<Draft | undefined> {
  const sealed = v.safeParse(Sealed, text);
  if (!sealed.success) return undefined;
  const keys = config(env).headerKeys;
  const opened = await unseal(keys, boundTo(sessionHash), sealed.output).catch(() => undefined);
  const draft = v.safeParse(Opened, opened);
  if (!draft.success || Number(draft.output.until) <= now) return undefined;
  const { until: _, ...kept } = draft.output;
  return kept;
}

const boundTo = (sessionHash: string): string => `draft of a connection ${sessionHash}`;

const Sealed = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ key: v.string(), iv: v.string(), data: v.string() }),
);
const Opened = v.object({
  provider: v.string(),
  credential: v.string(),
  baseUrl: v.string(),
  organisation: v.string(),
  until: v.string(),
});

/** A connection that somebody is creating: their input, and the provider's response. */
export type Draft = Omit<v.InferOutput<typeof Opened>, 'until'>;
