import { setTimeout } from 'node:timers/promises';
import { Stopped } from './wrangler.ts';

const everyMs = 1000;

/**
 * Waits until the service responds at its new address, which takes a while after the first deploy. Returns what
 * the service itself reports as wrong, or undefined if it is healthy.
 *
 * @throws Stopped when it has not responded within `patienceMs`
 */
export async function waitForHealth(url: string, patienceMs: number): Promise<string | undefined> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await setTimeout(everyMs)) {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(
      () => undefined,
    );
    if (!reply?.headers.has('x-request-id')) continue; // a page of Cloudflare's, not the service
    if (reply.ok) return undefined;
    const { message } = (await reply.json()) as { message: string }; // the envelope of a failure
    return `${reply.status} ${message}`;
  }
  throw new Stopped(
    `Deployed, but ${url} does not respond yet. A new address can take some minutes. Check ${url}/health, then run it again.`,
  );
}
