import { AsyncLocalStorage } from 'node:async_hooks';

/** Limits of production that the local runtime lacks, in bytes unless the name says otherwise. */
export const limits = {
  queries: 1_000,
  parameters: 100,
  statement: 100_000,
  /** Of a function in a statement. */
  arguments: 32,
  /** Of a parameter, and so of a row. */
  value: 2_000_000,
  subrequests: 10_000,
  connections: 6,
  behindHandlerMs: 30_000,
  message: 128_000,
  messages: 100,
  batch: 256_000,
  log: 256_000,
  points: 250,
  kvMissMs: 60_000,
  kvWriteMs: 1_000,
};

/** What an invocation has used, and when it ends: never until its handler has returned. */
type Invocation = Record<'queries' | 'subrequests' | 'log' | 'points' | 'open', number> & {
  until: number;
  hung?: boolean;
};

const current = new AsyncLocalStorage<Invocation>();

const exceeded: string[] = [];

/** Returns which limits were exceeded since the last call. */
export const takeExceeded = (): string[] => exceeded.splice(0);

/** Records that a limit was exceeded, for tests and in the log. Returns the error to throw. */
function exceed(what: string): Error {
  exceeded.push(what);
  writeError(`Limit of production exceeded: ${what}`);
  return new Error(`Limit of production exceeded: ${what}`);
}

/** Records something else that must not happen. Returns the error to throw. */
export function refused(what: string): Error {
  exceeded.push(what);
  writeError(`Refused in local runs and tests: ${what}`);
  return new Error(`Refused in local runs and tests: ${what}`);
}

/** Throws if `value` exceeds the limit. */
export function atMost(
  limit: Exclude<keyof typeof limits, `${string}Ms`>,
  value: number,
  of: string,
): void {
  if (value > limits[limit]) throw exceed(`${of}: ${value} instead of ${limits[limit]}`);
}

let queries = 0;

/** How many queries this isolate has made. */
export const queriesSoFar = (): number => queries;

/** Uses up some of an invocation's resources; outside of one there is no limit. */
export function spend(what: 'queries' | 'subrequests' | 'log', count: number): void {
  if (what === 'queries') queries += count;
  const invocation = current.getStore();
  if (!invocation) return;
  if (performance.now() > invocation.until)
    throw invocation.hung
      ? new Error('The invocation is over')
      : exceed(`${what} more than ${limits.behindHandlerMs / 1000} s after the handler`);
  invocation[what] += count;
  atMost(what, invocation[what], `${what} of an invocation`);
}

/** Whether an invocation may write another point: Analytics Engine drops the surplus. */
export function mayWritePoint(): boolean {
  const invocation = current.getStore();
  return !invocation || ++invocation.points <= limits.points;
}

/** Waits, as production does, while the invocation has six connections open. */
export async function connected<T>(work: () => Promise<T>): Promise<T> {
  spend('subrequests', 1);
  const invocation = current.getStore();
  if (!invocation) return work();
  while (invocation.open >= limits.connections) await scheduler.wait(1);
  invocation.open++;
  try {
    return await work();
  } finally {
    invocation.open--;
  }
}

/** Waits for a store that hangs. An invocation for which that takes too long is ended. */
export async function hangs(ms: number): Promise<void> {
  const invocation = current.getStore();
  if (invocation) invocation.hung = true;
  await scheduler.wait(ms);
  if (invocation && performance.now() > invocation.until) await new Promise(() => {});
}

/** Runs a handler as an invocation of its own, which ends 30 s after it has returned. */
export async function invoked<T>(handler: () => Promise<T>): Promise<T> {
  const invocation = {
    queries: 0,
    subrequests: 0,
    log: 0,
    points: 0,
    open: 0,
    until: Number.POSITIVE_INFINITY,
  };
  return current.run(invocation, async () => {
    try {
      return await handler();
    } finally {
      invocation.until = performance.now() + limits.behindHandlerMs;
    }
  });
}

const writeError = console.error;
for (const level of ['info', 'warn', 'error'] as const) {
  const write = console[level];
  console[level] = (...texts: unknown[]) => {
    spend('log', texts.join(' ').length + 1);
    write(...texts);
  };
}
const fetchReally = globalThis.fetch;
globalThis.fetch = (...request: Parameters<typeof fetch>) =>
  connected(() => fetchReally(...request));
