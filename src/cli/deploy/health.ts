import { setTimeout as wait } from 'node:timers/promises';
import { cellHeader, versionHeader } from '../../core/platform/cells.ts';
import { cellsNamed } from '../../router/cells.ts';
import { Stopped } from '../project/cloudflare.ts';

/** Asks whether a service works, or a router; behind a router, one of its cells refuses this. */
export const healthAt = (url: string, cell?: string): Promise<Response | undefined> =>
  fetch(url + (cell ? '/operator/cell' : '/health'), {
    ...(cell && { headers: { [cellHeader]: cell } }),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined);

/** What is waited for. */
export type Expected = {
  /** The id of the version; without it, any. */
  version?: string | undefined;
  /** The cells of a router. */
  cells?: Iterable<string>;
  /** The cell to wait for, behind a router. */
  cell?: string | undefined;
};

/** Waits until a service responds. Returns its problem, if it has one. @throws Stopped */
export async function waitForHealth(
  url: string,
  expected: Expected = {},
  pauseMs = 2000,
): Promise<string | undefined> {
  const { version, cells = [], cell } = expected;
  const names = [...cells].sort().join();
  for (const end = Date.now() + 180_000; Date.now() < end; await wait(pauseMs)) {
    const reply = await healthAt(url, cell);
    if (reply?.headers.has('cf-mitigated'))
      throw new Stopped(
        `Cloudflare asks programs at ${url} to prove that they are people. Turn off Bot Fight Mode, or whatever in the ` +
          "zone's security does this: it would refuse API clients as well.",
      );
    if (!reply?.headers.has('x-request-id')) continue; // a page of Cloudflare's, not the service
    if (version && reply.headers.get(versionHeader) !== version) continue; // what was there before
    if (!cell && cellsNamed(reply).sort().join() !== names) continue;
    if (reply.ok || cell) return undefined;
    const { message } = (await reply.json()) as { message: string }; // the envelope of a failure
    return `${reply.status} ${message}`;
  }
  throw new Stopped(
    `${url} does not respond yet, or not with the new version. A new address can take some minutes. Check ${url}/health, then run it again.`,
  );
}
