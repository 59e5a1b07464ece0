import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { openAccount } from '#src/cli/demo/account.ts';
import { fleetCommand, runFleet } from '#src/cli/fleet.ts';
import { minuteOf, type Stack, type StackOptions, startStack } from '#src/cli/local/stack.ts';
import { keyVariable, operatorOf, type Service } from '#src/cli/operate/client.ts';
import { root } from '#src/cli/project/paths.ts';
import { runHere, watched } from './child.ts';
import { readText, temporaryFolder } from './folder.ts';

const fleetProgram = join(root, 'src/cli/fleet.ts');

/** A folder for a stack with these options, and how to start one there, and another after it. */
export function stackFolder(options: Omit<StackOptions, 'directory' | 'port'> = {}) {
  const directory = temporaryFolder();
  return {
    directory,
    start: (port = 0) => startStack({ directory, port, ...options }),
    remove: () => {
      const logFile = join(directory, 'wrangler.log');
      const log = existsSync(logFile) ? readText(logFile) : '';
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
  baseUrl,
  operatorKey: cells[cell] ?? '',
  cell,
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

/** The first links of the mails to an address, which the local service keeps where its log says. */
export const mailedLinks = (directory: string, address: string): string[] =>
  [
    ...readText(directory, 'wrangler.log').matchAll(
      new RegExp(`^To: ${address}$[\\s\\S]*?^Text: (.+)$`, 'gm'),
    ),
  ].map(([, file = '']) => /https?:\S+/.exec(readText(file))?.[0] ?? '');

let running: Promise<unknown> = Promise.resolve();

/** Runs the operator's tool with some words and arguments in this process, one run at a time. */
export function fleet(
  { baseUrl, operatorKey, cell }: Service,
  words: string,
  ...args: string[]
): ReturnType<typeof runHere> {
  const variables = {
    ...{ FLEET_OPERATOR_KEY: operatorKey, FLEET_URL: baseUrl },
    ...(cell && { FLEET_CELL: cell, [keyVariable(cell)]: operatorKey }),
  };
  const run = running.then(() =>
    runHere(async (ran) => {
      const command = fleetCommand();
      for (const one of withSubcommands(command))
        one.exitOverride().configureOutput({
          writeOut: (text) => {
            ran.out += text;
          },
          writeErr: (text) => {
            ran.err += text;
          },
        });
      await runFleet(command, [...words.split(' '), ...args]).catch((ended) => {
        if (!(ended instanceof CommanderError)) throw ended;
        ran.code = ended.exitCode;
      });
    }, variables),
  );
  running = run.catch(() => {});
  return run;
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** Starts the operator's tool as a person would, in a process of its own. */
export function startFleet({ baseUrl, operatorKey }: Service, words: string, ...args: string[]) {
  const env = { ...process.env, FLEET_OPERATOR_KEY: operatorKey, FLEET_URL: baseUrl };
  return watched(
    spawn(process.execPath, [fleetProgram, ...words.split(' '), ...args], { env, stdio: 'pipe' }),
  );
}

/** The tool's answer as a program reads it. */
export async function fleetJson<T>(stack: Service, words: string, ...args: string[]): Promise<T> {
  const { code, out, err } = await fleet(stack, `--json ${words}`, ...args);
  if (code !== 0) throw new Error(`fleet ${words}: ${err}`);
  return JSON.parse(out);
}

/** Calls the API with a credential. */
export const ask = (
  { baseUrl }: { baseUrl: string },
  token: string,
  method: string,
  path: string,
  body?: unknown,
  connection = '',
) =>
  fetch(baseUrl + path, {
    method,
    headers: {
      'x-api-key': token,
      'content-type': 'application/json',
      'connection-id': connection,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** The same. Returns the envelope. */
export const api = async <T = unknown>(...call: Parameters<typeof ask>) =>
  (await (await ask(...call)).json()) as {
    status: number;
    message: string;
    data: T;
    next?: string;
  }; // the envelope

/** An account of its own on `stack`, which calls the API with its token and sends records with its ingest key. */
export async function journeyAccount(
  stack: Service,
  names: { account: string; connection: string } = { account: 'Journey', connection: 'Vans' },
) {
  const connection = { provider: 'samsara', name: names.connection };
  const made = await openAccount(operatorOf(stack), names.account, [connection]);
  const { accountId, apiToken: token } = made;
  const [{ id: connectionId = '', ingestKey = '' } = {}] = made.connections;
  const call = <T>(method: string, path: string, body?: unknown) =>
    api<T>(stack, token, method, path, body, connectionId);
  return {
    ...{ accountId, token, connectionId, ingestKey, call },
    /** The data at a path. */
    get: async <T = object[]>(path: string) => (await call<T>('GET', path)).data,
    send: (records: object[], notify = true) =>
      api<{ accepted: number }>(stack, ingestKey, 'POST', '/ingest', { records, notify }),
    /** Registers a webhook for events, unless `changes` say otherwise. Returns its id. */
    async register(url: string, changes: object = {}) {
      const usual = { connectionIds: [connectionId], httpVerb: 'POST', notificationTypes: [2] };
      const created = await call<{ id: string }>('POST', '/webhook', { ...usual, url, ...changes });
      if (created.status !== 200) throw new Error(`${url}: ${created.message}`);
      return created.data.id;
    },
  };
}

export type JourneyAccount = Awaited<ReturnType<typeof journeyAccount>>;
