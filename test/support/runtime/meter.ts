import { env } from 'cloudflare:workers';
import { metered as meteredDatabase, type Rows } from '../../../src/dev/bench/worker-meter.ts';

/** What a unit of work costs, however fast the machine is. */
export type Cost = Rows & {
  kvReads: number;
  kvWrites: number;
  /** Messages written to the queue; each is read and deleted besides. */
  queued: number;
};

/** The service's bindings with a meter in front of them. What is woken waits for whoever measures it. */
export function metered() {
  const cost: Cost = { trips: 0, read: 0, written: 0, ms: 0, kvReads: 0, kvWrites: 0, queued: 0 };
  const woken: unknown[] = [];
  const DB = meteredDatabase(env.DB, cost);
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
  return { env: bindings, cost, woken };
}
