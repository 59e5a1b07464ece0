import * as v from 'valibot';
import { runWrangler, type Variables, type WranglerOutput } from './wrangler.ts';

/** A deploy that cannot continue; its message says what failed and what to do. */
export class Stopped extends Error {}

const failure = (what: string, reason: string): Stopped =>
  new Stopped(`${what} failed: ${reason.replace(/\.?$/, '.')} ${advice(reason)}`);

/** What to do for an account that has never had a Worker. */
export const noSubdomain =
  'Open Workers & Pages in the dashboard once, which gives the account an address below workers.dev, and run it again.';

/** What to do about a refusal, by Cloudflare's message. */
function advice(reason: string): string {
  if (/\[code: (10000|9109)\]|Authentication error/.test(reason))
    return "The credentials do not allow this. Give the API token the permissions in the operators' guide, or run `npx wrangler login` again.";
  if (reason.includes('[code: 10063]')) return noSubdomain;
  return 'Fix that, or wait a moment, and run it again: it continues from here.';
}

/** Runs wrangler as whoever is logged in; for one account, once that is known. */
export type Wrangler = (args: string[], env?: Variables) => Promise<WranglerOutput>;

export const wranglerFor =
  (accountId?: string): Wrangler =>
  (args, env) =>
    runWrangler(args, { ...(accountId && { CLOUDFLARE_ACCOUNT_ID: accountId }), ...env });

/** Returns the output of wrangler. @throws Stopped, with `what` failed, why, and what to do */
export function must(what: string, output: WranglerOutput): WranglerOutput {
  if (output.ok) return output;
  const message = output.text.slice(output.text.lastIndexOf('[ERROR]') + 1).replace(/^ERROR\]/, '');
  const [reason = ''] = message.split(/If you think this is a bug|🪵|Logs were written/);
  throw failure(what, reason.replace(/\s+/g, ' ').trim().slice(0, 400));
}

type Headers = { [name: string]: string };

const Token = v.object({ token: v.string() });

/** The headers with wrangler's credentials. @throws Stopped */
export async function credentials(wrangler: Wrangler): Promise<Headers> {
  const token = process.env.CLOUDFLARE_API_TOKEN;
  if (token) return { authorization: `Bearer ${token}` };
  const output = await wrangler(['auth', 'token', '--json']);
  const isSignedIn = output.ok || !/not logged in/i.test(output.text);
  const reply = isSignedIn && JSON.parse(must('Signing in to Cloudflare', output).out);
  if (v.is(Token, reply)) return { authorization: `Bearer ${reply.token}` };
  // With a global key there is no token either.
  throw new Stopped(
    'Not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.',
  );
}

export type Call = {
  method?: 'PUT' | 'PATCH' | 'DELETE';
  body?: object;
  headers?: Headers;
  /** Results instead of refusals with these codes. */
  otherwise?: { [code: number]: unknown };
};

/** A result instead of the refusal that there is no such Worker, of which Cloudflare has two. */
export const noWorker = <T>(result: T) => ({ 10007: result, 10090: result });

/** Calls Cloudflare's API, and returns its result. @throws Stopped, with `what` failed */
export type Api = <S extends v.GenericSchema>(
  what: string,
  result: S,
  path: string,
  call?: Call,
) => Promise<v.InferOutput<S>>;

const Envelope = v.object({
  result: v.unknown(),
  errors: v.array(v.object({ code: v.optional(v.number(), 0), message: v.string() })),
});

/** A call takes a fraction of a second, and wrangler one to start. */
export function apiAt(address: string, signedIn: Headers): Api {
  const base = process.env.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4';
  return async (what, schema, path, { method, body, headers, otherwise = {} } = {}) => {
    const reply = await fetch(base + address + path, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: { ...signedIn, ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    }).catch(({ message, cause }: Error) => {
      const reason = cause instanceof Error ? cause.message : message;
      throw failure(what, `Cloudflare did not respond: ${reason}`);
    });
    // What is deleted has no envelope.
    const none = () => (reply.ok && method === 'DELETE' ? { result: null, errors: [] } : null);
    const { success, output } = v.safeParse(Envelope, await reply.json().catch(none));
    if (!success) throw failure(what, `Cloudflare replied with HTTP ${reply.status}`);
    const known = output.errors.find(({ code }) => code in otherwise);
    const reasons = output.errors.map(({ code, message }) => `${message} [code: ${code}]`);
    if (!reply.ok && !known) throw failure(what, reasons.join(' ') || `HTTP ${reply.status}`);
    const result = v.safeParse(schema, known ? otherwise[known.code] : output.result);
    if (result.success) return result.output;
    const at = v.getDotPath(result.issues[0]) ?? 'all of it';
    throw new Stopped(`${what} failed: Cloudflare's reply is not what was expected, ${at}.`);
  };
}

const pageSize = 100;

/** All items of a paged list at a path that ends with `?` or `&`. @throws Stopped */
export async function listed<S extends v.GenericSchema>(
  api: Api,
  what: string,
  item: S,
  path: string,
): Promise<v.InferOutput<S>[]> {
  const all: v.InferOutput<S>[] = [];
  for (let page = 1; all.length === (page - 1) * pageSize; page++)
    all.push(...(await api(what, v.array(item), `${path}per_page=${pageSize}&page=${page}`)));
  return all;
}

const Accounts = v.array(v.object({ id: v.string(), name: v.string() }));

/** Returns the id of the account to deploy to. @throws Stopped, unless it is the only one */
export async function chooseAccount(api: Api): Promise<string> {
  if (process.env.CLOUDFLARE_ACCOUNT_ID) return process.env.CLOUDFLARE_ACCOUNT_ID;
  const accounts = await api('Signing in to Cloudflare', Accounts, '/accounts?per_page=50');
  const [only, ...others] = accounts;
  if (!only)
    throw new Stopped('The credentials name no account. Set CLOUDFLARE_ACCOUNT_ID to its id.');
  if (others.length === 0) return only.id;
  const choices = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('');
  throw new Stopped(
    `You have several accounts. Set CLOUDFLARE_ACCOUNT_ID to the id of one:${choices}`,
  );
}

/** How to call the account to deploy to, of which a line goes to `report`. @throws Stopped */
export async function signIn(report: (line: string) => void) {
  const signedIn = await credentials(wranglerFor());
  const account = await chooseAccount(apiAt('', signedIn));
  report(`Signed in to the account ${account}`);
  return { account, wrangler: wranglerFor(account), api: apiAt(`/accounts/${account}`, signedIn) };
}
