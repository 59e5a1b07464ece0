import { setTimeout } from 'node:timers/promises';
import { Stopped } from './wrangler.ts';

const everyMs = 1000;

/**
 * Waits until the service answers at its new address, which takes a while on the first deploy, and says what is
 * wrong with it if it says so itself.
 *
 * @throws Stopped when there is no answer of its own within `patienceMs`
 */
export async function untilItAnswers(url: string, patienceMs: number): Promise<string | undefined> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await setTimeout(everyMs)) {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(
      () => undefined,
    );
    if (!reply?.headers.has('x-request-id')) continue;
    if (reply.ok) return undefined;
    const { message } = (await reply.json()) as { message: string }; // the envelope of a failure
    return `${reply.status} ${message}`;
  }
  throw new Stopped(
    `Deployed, but nothing answers at ${url} yet. A new address can take some minutes: look at ${url}/health, then run it again.`,
  );
}
