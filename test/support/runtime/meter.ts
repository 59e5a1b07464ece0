import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';

/**
 * What a unit of work costs, however fast the machine is: round trips to D1 (a batch is one) and its billed rows, reads of
 * KV, and messages written to the queue; each is read and deleted besides.
 */
export type Cost = ReturnType<typeof metered>['cost'];

/** The service's bindings with a meter. What is woken waits for whoever measures it; `texts` are the statements' SQL. */
export function metered() {
  const cost = { trips: 0, read: 0, written: 0, kvReads: 0, queued: 0 };
  const woken: unknown[] = [];
  const texts = new Set<string>();
  const DB = through(env.DB, async (run, statements) => {
    const result = await run();
    for (const { text } of statements) texts.add(text);
    cost.trips += 1;
    for (const { meta } of [result].flat() as D1Result[]) {
      cost.read += meta.rows_read;
      cost.written += meta.rows_written;
    }
    return result;
  });
  const TOKENS = {
    get: (...args: Parameters<KVNamespace['get']>) => {
      cost.kvReads += 1;
      return env.TOKENS.get(...args);
    },
    put: (...args: Parameters<KVNamespace['put']>) => env.TOKENS.put(...args),
  } as unknown as KVNamespace; // all that the service uses
  const DELIVERIES = {
    sendBatch: async (messages: MessageSendRequest[]) => {
      cost.queued += messages.length;
      woken.push(...messages.map(({ body }) => body));
    },
  } as unknown as Queue; // as above
  const bindings: Env = { ...env, DB, TOKENS, DELIVERIES };
  return { env: bindings, cost, woken, texts };
}

/** A queue that brings nothing: no job does meanwhile what a test does. */
export const unwoken = metered().env.DELIVERIES;
