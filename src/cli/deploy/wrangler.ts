import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The folder of the project. */
export const root = resolve(import.meta.dirname, '../../..');
const program = join(root, 'node_modules/wrangler/bin/wrangler.js');
const quietly = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  DO_NOT_TRACK: '1',
  NO_COLOR: '1',
};

/** A deploy that cannot go on; its message says what failed and what to do. */
export class Stopped extends Error {}

/** What a call of wrangler wrote to stdout, and all that it wrote. */
export type Answer = { ok: boolean; out: string; text: string };

/**
 * Calls wrangler with `args`, for one account once it is known: with the credentials of `wrangler login` or
 * those in the environment. Never asks anything, never throws for what wrangler answers.
 */
export type Wrangler = (args: string[], env?: NodeJS.ProcessEnv) => Promise<Answer>;

export const wranglerFor =
  (accountId?: string): Wrangler =>
  (args, env) =>
    new Promise((done, fail) => {
      const account = accountId && { CLOUDFLARE_ACCOUNT_ID: accountId };
      const child = spawn(process.execPath, [program, ...args], {
        cwd: root,
        env: { ...process.env, ...quietly, ...account, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk;
        text += chunk;
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      child.on('error', fail);
      child.on('close', (code) => done({ ok: code === 0, out, text: stripVTControlCharacters(text) }));
    });

/** The answer of a step that must not fail. @throws Stopped, naming `what` failed, why, and what to do */
export async function must(what: string, asked: Answer | Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.ok) return answer;
  throw new Stopped(`${what} failed: ${reasonOf(answer)} ${adviceFor(answer)}`);
}

/** Why wrangler failed, in one line. */
export function reasonOf({ text }: Answer): string {
  const told = text.slice(text.lastIndexOf('[ERROR]') + 1).replace(/^ERROR\]/, '');
  const [reason = ''] = told.split(/If you think this is a bug|🪵|Logs were written/);
  const line = reason.replace(/\s+/g, ' ').trim().slice(0, 400);
  return line.endsWith('.') ? line : `${line}.`;
}

const adviceFor = ({ text }: Answer): string =>
  /\[code: (10000|9109)\]|Authentication error/.test(text)
    ? "The credentials may not do this: give the API token the permissions in the README's runbook, or run `npx wrangler login` again."
    : 'Put that right, or wait a moment, and run it again: it goes on from here.';
