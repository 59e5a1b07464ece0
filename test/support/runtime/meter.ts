import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';

/** What a unit of work costs, however fast the machine is. */
export type Cost = {
  /** Of D1: round trips (a batch is one), billed rows, and milliseconds by its clock. */
  trips: number;
  read: number;
  written: number;
  ms: number;
  kvReads: number;
  kvWrites: number;
  /** Messages written to the queue; each is read and deleted besides. */
  queued: number;
};

/** The service's bindings with a meter. What is woken waits for whoever measures it; `texts` are the statements' SQL. */
export function metered() {
  const cost: Cost = { trips: 0, read: 0, written: 0, ms: 0, kvReads: 0, kvWrites: 0, queued: 0 };
  const woken: unknown[] = [];
  const texts = new Set<string>();
  const DB = through(env.DB, async (run, statements) => {
    const result = await run();
    for (const { text } of statements) texts.add(text);
    cost.trips += 1;
    for (const { meta } of [result].flat() as D1Result[]) {
      cost.read += meta.rows_read;
      cost.written += meta.rows_written;
      cost.ms += meta.duration;
    }
    return result;
  });
  const TOKENS = {
    get: (...args: Parameters<KVNamespace['get']>) => {
      cost.kvReads += 1;
      return env.TOKENS.get(...args);
    },
    put: (...args: Parameters<KVNamespace['put']>) => {
      cost.kvWrites += 1;
      return env.TOKENS.put(...args);
    },
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
