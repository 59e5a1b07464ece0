import { runWrangler, type Variables, type WranglerOutput } from '../project/wrangler.ts';

/** A deploy that cannot continue; its message says what failed and what to do. */
export class Stopped extends Error {}

/**
 * Runs wrangler for one account, once that is known, with the credentials of `wrangler login` or the environment. It
 * never asks questions, and never throws for an error that wrangler reports.
 */
export type Wrangler = (args: string[], env?: Variables) => Promise<WranglerOutput>;

export const wranglerFor =
  (accountId?: string): Wrangler =>
  (args, env) =>
    runWrangler(args, { ...(accountId && { CLOUDFLARE_ACCOUNT_ID: accountId }), ...env });

export const notSignedIn = (): Stopped =>
  new Stopped('Not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.');

/** Returns the output of a step that must not fail. @throws Stopped, with `what` failed, why, and what to do */
export async function must(
  what: string,
  step: WranglerOutput | Promise<WranglerOutput>,
): Promise<WranglerOutput> {
  const output = await step;
  if (output.ok) return output;
  throw new Stopped(`${what} failed: ${reasonOf(output)} ${advice(output.text)}`);
}

function reasonOf({ text }: WranglerOutput): string {
  const message = text.slice(text.lastIndexOf('[ERROR]') + 1).replace(/^ERROR\]/, '');
  const [reason = ''] = message.split(/If you think this is a bug|🪵|Logs were written/);
  const line = reason.replace(/\s+/g, ' ').trim().slice(0, 400);
  return line.endsWith('.') ? line : `${line}.`;
}

/** What to do about a refusal, by Cloudflare's message. */
export const advice = (text: string): string =>
  /\[code: (10000|9109)\]|Authentication error/.test(text)
    ? "The credentials do not allow this. Give the API token the permissions in the operators' guide, or run `npx wrangler login` again."
    : 'Fix that, or wait a moment, and run it again: it continues from here.';
