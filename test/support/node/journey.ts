import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Stack, type StackOptions, startStack } from '../../../src/cli/local/stack.ts';
import { root } from '../../../src/cli/project/paths.ts';

const fleetProgram = join(root, 'src/cli/fleet.ts');

/**
 * A folder of its own for a stack, and how to start one there, and another after it; `config` may change its
 * configuration, and `homes` are those besides main.
 */
export function stackFolder(config?: StackOptions['config'], homes: string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-'));
  return {
    directory,
    start: (port = 0) => startStack({ directory, port, homes, ...(config && { config }) }),
    remove: () => {
      const logFile = join(directory, 'wrangler.log');
      const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
      rmSync(directory, { recursive: true, force: true });
      const exceeded = /Limit of production exceeded: .*/.exec(log)?.[0];
      if (exceeded) throw new Error(exceeded);
    },
  };
}

/** What tests need of a stack that others use as well. */
export type SharedStack = Pick<Stack, 'baseUrl' | 'operatorKey' | 'certificates'>;

/** The one stack of all tests that disturb no others: each has accounts and addresses of its own there. */
export async function sharedStack(): Promise<SharedStack> {
  const response = await fetch(process.env.SHARED_STACK ?? '');
  const stack: SharedStack & { error?: string } = await response.json();
  if (stack.error) throw new Error(stack.error);
  return stack;
}

/** Waits until `condition` holds. @throws Error saying what was awaited, after `seconds` */
export async function until(what: string, condition: () => boolean | Promise<boolean>, seconds = 20) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (await condition()) return;
    await new Promise((on) => setTimeout(on, 50));
  }
  throw new Error(`waited ${seconds} s in vain until ${what}`);
}

/** Runs the operator's tool as a person would, against `stack`. */
export async function fleet(stack: { baseUrl: string; operatorKey: string }, ...args: string[]) {
  const env = { ...process.env, FLEET_OPERATOR_KEY: stack.operatorKey, FLEET_URL: stack.baseUrl };
  try {
    const done = await promisify(execFile)(process.execPath, [fleetProgram, ...args], { env });
    return { code: 0, out: done.stdout, err: done.stderr };
  } catch (error) {
    const failed = error as { code: number; stdout: string; stderr: string }; // what execFile rejects with
    return { code: failed.code, out: failed.stdout, err: failed.stderr };
  }
}

/** The tool's answer as a program reads it. */
export async function fleetJson<T>(
  stack: { baseUrl: string; operatorKey: string },
  ...args: string[]
): Promise<T> {
  const { code, out, err } = await fleet(stack, '--json', ...args);
  if (code !== 0) throw new Error(`fleet ${args.join(' ')}: ${err}`);
  return JSON.parse(out);
}

/** Calls the API with a credential, and answers status and envelope. */
export async function api<T = unknown>(
  stack: { baseUrl: string },
  token: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const response = await fetch(stack.baseUrl + path, {
    method,
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { status: number; message: string; data: T; next?: string }; // the envelope
}

/** An account of its own on `stack`, made with the operator's tool. */
export async function journeyAccount(
  stack: { baseUrl: string; operatorKey: string },
  names: { account: string; connection: string; home?: string } = { account: 'Journey', connection: 'Vans' },
) {
  const home = names.home ? ['--home', names.home] : [];
  const account = await fleetJson<{ id: string }>(stack, 'account', 'create', names.account, ...home);
  const token = await fleetJson<{ id: string; value: string }>(
    stack,
    ...['token', 'issue', '--account', account.id, '--name', 'journey'],
  );
  const connection = await fleetJson<{ id: string }>(
    stack,
    ...['connection', 'create', '--account', account.id, '--provider', 'samsara', '--name', names.connection],
  );
  const key = await fleetJson<{ value: string }>(
    stack,
    ...['ingest-key', 'issue', '--connection', connection.id, '--name', 'connector'],
  );
  return {
    accountId: account.id,
    token: token.value,
    tokenId: token.id,
    connectionId: connection.id,
    ingestKey: key.value,
  };
}
