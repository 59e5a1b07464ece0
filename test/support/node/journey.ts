import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { openAccount } from '#src/cli/demo/account.ts';
import { fleetCommand, runFleet } from '#src/cli/fleet.ts';
import { minuteOf, type Stack, type StackOptions, startStack } from '#src/cli/local/stack.ts';
import { keyVariable, operatorOf, type Service } from '#src/cli/operate/client.ts';
import { root } from '#src/cli/project/paths.ts';
import { watched } from './child.ts';
import { temporaryFolder } from './folder.ts';

const fleetProgram = join(root, 'src/cli/fleet.ts');

/** A folder for a stack with these options, and how to start one there, and another after it. */
export function stackFolder(options: Omit<StackOptions, 'directory' | 'port'> = {}) {
  const directory = temporaryFolder();
  return {
    directory,
    start: (port = 0) => startStack({ directory, port, ...options }),
    remove: () => {
      const logFile = join(directory, 'wrangler.log');
      const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
      rmSync(directory, { recursive: true, force: true });
      const exceeded = /Limit of production exceeded: .*/.exec(log)?.[0];
      if (exceeded) throw new Error(exceeded);
    },
  };
}

/** A stack for the tests of a file, started before them; again by `restart` once it was killed. */
export function ownStack(options?: Parameters<typeof stackFolder>[0]) {
  const folder = stackFolder(options);
  const restart = async (port?: number) => void Object.assign(stack, await folder.start(port));
  const stack = { directory: folder.directory, restart } as Stack & {
    directory: string;
    restart: typeof restart;
  };
  beforeAll(() => restart());
  afterAll(async () => {
    await stack.stop?.();
    folder.remove();
  });
  return stack;
}

/** A cell of a stack with a router, as operators reach it. */
export const inCell = ({ baseUrl, cells }: Stack, cell: string): Service => ({
  ...{ baseUrl, operatorKey: cells[cell] ?? '', cell },
});

export type SharedStack = Pick<Stack, 'baseUrl' | 'operatorKey' | 'certificates' | 'minute'>;

/** The stack of all tests that disturb no others: each has accounts of its own there. */
export async function sharedStack(): Promise<SharedStack> {
  const response = await fetch(process.env.SHARED_STACK ?? '');
  const stack: Omit<SharedStack, 'minute'> & { error?: string } = await response.json();
  if (stack.error) throw new Error(stack.error);
  return { ...stack, minute: minuteOf(stack.baseUrl) };
}

/** That stack, and an account of its own for the tests of a file. */
export async function sharedAccount() {
  const stack = await sharedStack();
  return { stack, us: await journeyAccount(stack) };
}

/** Waits until `condition` holds. @throws Error saying what was awaited, after `seconds` */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 20,
) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (await condition()) return;
    await new Promise((on) => setTimeout(on, 50));
  }
  throw new Error(`waited ${seconds} s in vain until ${what}`);
}

export type Ran = { code: number; out: string; err: string };

let running: Promise<unknown> = Promise.resolve();

/** Runs the operator's tool in this process, which is quicker than another; one run at a time. */
export function fleet(stack: Service, ...args: string[]): Promise<Ran> {
  const run = running.then(() => runHere(stack, args));
  running = run.catch(() => {});
  return run;
}

async function runHere({ baseUrl, operatorKey, cell }: Service, args: string[]): Promise<Ran> {
  const ran: Ran = { code: 0, out: '', err: '' };
  const command = fleetCommand();
  const write = (to: 'out' | 'err') => (text: string) => {
    ran[to] += text;
  };
  const [writeOut, writeErr] = [write('out'), write('err')];
  for (const one of withSubcommands(command))
    one.exitOverride().configureOutput({ writeOut, writeErr });
  const { log, error } = console;
  console.log = (text) => writeOut(`${text}\n`);
  console.error = (text) => writeErr(`${text}\n`);
  Object.assign(process.env, {
    ...{ FLEET_OPERATOR_KEY: operatorKey, FLEET_URL: baseUrl },
    ...(cell && { FLEET_CELL: cell, [keyVariable(cell)]: operatorKey }),
  });
  try {
    await runFleet(command, args);
    ran.code = Number(process.exitCode ?? 0);
  } catch (ended) {
    if (!(ended instanceof CommanderError)) throw ended;
    ran.code = ended.exitCode;
  } finally {
    process.exitCode = undefined;
    Object.assign(console, { log, error });
    for (const name of ['FLEET_OPERATOR_KEY', 'FLEET_URL', 'FLEET_CELL', keyVariable(cell)])
      delete process.env[name];
  }
  return ran;
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** Starts the operator's tool as a person would, in a process of its own. */
export function startFleet({ baseUrl, operatorKey }: Service, ...args: string[]) {
  const env = { ...process.env, FLEET_OPERATOR_KEY: operatorKey, FLEET_URL: baseUrl };
  return watched(spawn(process.execPath, [fleetProgram, ...args], { env, stdio: 'pipe' }));
}

/** The tool's answer as a program reads it. */
export async function fleetJson<T>(stack: Service, ...args: string[]): Promise<T> {
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
  connection = '',
) {
  const response = await fetch(stack.baseUrl + path, {
    method,
    headers: {
      'x-api-key': token,
      'content-type': 'application/json',
      'connection-id': connection,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { status: number; message: string; data: T; next?: string }; // the envelope
}

export const listed = async <T>(
  stack: { baseUrl: string },
  { token, connectionId }: Pick<JourneyAccount, 'token' | 'connectionId'>,
  path: string,
): Promise<T[]> => (await api<T[]>(stack, token, 'GET', path, undefined, connectionId)).data;

/** An account of its own on `stack`. */
export async function journeyAccount(
  stack: Service,
  names: { account: string; connection: string } = { account: 'Journey', connection: 'Vans' },
) {
  const connection = { provider: 'samsara', name: names.connection };
  const made = await openAccount(operatorOf(stack), names.account, [connection]);
  const [{ id = '', ingestKey = '' } = {}] = made.connections;
  return { accountId: made.accountId, token: made.apiToken, connectionId: id, ingestKey };
}

export type JourneyAccount = Awaited<ReturnType<typeof journeyAccount>>;

/** Registers a webhook for events, unless `changes` say otherwise. Returns its id. */
export async function addWebhook(
  stack: { baseUrl: string },
  { token, connectionId }: JourneyAccount,
  url: string,
  changes: object = {},
): Promise<string> {
  const webhook = {
    connectionIds: [connectionId],
    url,
    httpVerb: 'POST',
    notificationTypes: [2],
    ...changes,
  };
  const created = await api<{ id: string }>(stack, token, 'POST', '/webhook', webhook);
  if (created.status !== 200) throw new Error(`${url}: ${created.message}`);
  return created.data.id;
}
