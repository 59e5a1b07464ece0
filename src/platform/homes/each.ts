import { described, fault } from '../log.ts';
import { hasHomes, homesOf } from './homes.ts';

const timeoutMs = 5_000;

/**
 * What each home returns, in the order of the homes; homes that fail or take too long are logged and left out.
 *
 * @throws what the only home throws
 */
export async function askHomes<T>(env: Env, ask: (home: Env) => Promise<T>): Promise<[Env, T][]> {
  if (!hasHomes(env)) return [[env, await ask(env)]];
  const homes = [...homesOf(env)];
  const replies = await Promise.allSettled(homes.map(([, home]) => inTime(ask(home))));
  return replies.flatMap((reply, at) => {
    const [name, home] = homes[at] as [string, Env]; // as many as replies
    if (reply.status === 'fulfilled') return [[home, reply.value] as [Env, T]];
    fault('warn', { message: 'A home cannot be reached', home: name, ...described(reply.reason) });
    return [];
  });
}

/** Waits for a reply, five seconds by default. @throws Error, when it takes longer */
export async function inTime<T>(reply: Promise<T>, ms = timeoutMs): Promise<T> {
  const over = new AbortController();
  const timeout = async (): Promise<never> => {
    await scheduler.wait(ms, { signal: over.signal });
    throw new Error(`no response within ${ms} ms`);
  };
  try {
    return await Promise.race([reply, timeout()]);
  } finally {
    over.abort();
  }
}
