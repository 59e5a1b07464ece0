import * as v from 'valibot';
import { advice, must, notSignedIn, Stopped, type Wrangler } from './wrangler.ts';

/** The result of a call of Cloudflare's API, or why it was refused, with Cloudflare's codes. */
export type Outcome = { ok: boolean; result: unknown; reason: string; codes: number[] };

type Call = { method?: 'POST' | 'PUT'; body?: object; headers?: { [name: string]: string } };

/** Calls Cloudflare's API below an account's address. Never throws: a call without a response is refused as well. */
export type Api = (path: string, call?: Call) => Promise<Outcome>;

const Envelope = v.object({
  result: v.unknown(),
  errors: v.array(v.object({ code: v.optional(v.number(), 0), message: v.string() })),
});

/** The headers with wrangler's credentials. @throws Stopped */
export async function credentials(wrangler: Wrangler): Promise<{ [name: string]: string }> {
  const given = process.env.CLOUDFLARE_API_TOKEN;
  if (given) return { authorization: `Bearer ${given}` };
  const output = await wrangler(['auth', 'token', '--json']);
  if (!output.ok && /not logged in/i.test(output.text)) throw notSignedIn();
  const { out } = await must('Signing in to Cloudflare', output);
  const { success, output: found } = v.safeParse(v.object({ token: v.string() }), JSON.parse(out));
  if (!success) throw notSignedIn(); // with a global key
  return { authorization: `Bearer ${found.token}` };
}

const timeoutMs = 60_000;

/**
 * The API for an account. A call takes a fraction of a second, while wrangler takes one to start and is used only where
 * necessary.
 */
export function apiFor(account: string, signedIn: { [name: string]: string }): Api {
  const base = process.env.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4';
  return async (path, { method = 'GET', body, headers } = {}) => {
    try {
      const reply = await fetch(`${base}/accounts/${account}${path}`, {
        method,
        headers: { ...signedIn, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { success, output } = v.safeParse(Envelope, await reply.json().catch(() => null));
      if (!success) return refused(`Cloudflare replied with HTTP ${reply.status}`);
      const { result, errors } = output;
      if (reply.ok) return { ok: true, result, reason: '', codes: [] };
      const reasons = errors.map(({ code, message }) => `${message} [code: ${code}]`).join(' ');
      return refused(
        reasons || `HTTP ${reply.status}`,
        errors.map(({ code }) => code),
      );
    } catch (error) {
      const { message, cause } = error as Error; // what fetch throws
      return refused(`Cloudflare did not respond: ${cause instanceof Error ? cause.message : message}`);
    }
  };
}

const refused = (reason: string, codes: number[] = []): Outcome => ({
  ok: false,
  result: undefined,
  reason,
  codes,
});

/** Returns the result of a call that must not fail. @throws Stopped, with `what` failed, why, and what to do */
export async function granted<Schema extends v.GenericSchema>(
  what: string,
  schema: Schema,
  outcome: Outcome | Promise<Outcome>,
): Promise<v.InferOutput<Schema>> {
  const { ok, result, reason } = await outcome;
  if (!ok) throw new Stopped(`${what} failed: ${reason.replace(/\.?$/, '.')} ${advice(reason)}`);
  const { success, output, issues } = v.safeParse(schema, result);
  if (success) return output;
  throw new Stopped(
    `${what} failed: Cloudflare's reply is not what was expected, ${v.getDotPath(issues[0]) ?? 'all of it'}.`,
  );
}

const pageSize = 100;

/** All items of a paged list. @throws Stopped */
export async function listed<Schema extends v.GenericSchema>(
  api: Api,
  what: string,
  path: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>[]> {
  const all: v.InferOutput<Schema>[] = [];
  for (let page = 1; all.length === (page - 1) * pageSize; page++)
    all.push(...(await granted(what, v.array(schema), api(`${path}?per_page=${pageSize}&page=${page}`))));
  return all;
}

/** Queries the database for names. `what` describes failures. */
export type Query = (what: string, sql: string) => Promise<string[]>;

const Results = v.array(v.object({ results: v.array(v.looseObject({ name: v.optional(v.string()) })) }));

export const queryIn =
  (api: Api, databaseId: string): Query =>
  async (what, sql) => {
    const asked = api(`/d1/database/${databaseId}/query`, { method: 'POST', body: { sql } });
    const found = await granted(what, Results, asked);
    return found.flatMap(({ results }) => results.flatMap(({ name }) => name ?? []));
  };
