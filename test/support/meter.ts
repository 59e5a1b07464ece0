import { env } from 'cloudflare:workers';

/** What a unit of work costs, however fast the machine is. */
export type Cost = {
  /** Round trips to D1, a batch being one. */
  trips: number;
  rowsRead: number;
  rowsWritten: number;
  kvReads: number;
  kvWrites: number;
  /** Messages written to the queue; each is read and deleted besides. */
  queued: number;
};

/** The service's bindings with a meter in front of them. What is woken waits for whoever measures it. */
export function metered() {
  const cost: Cost = { trips: 0, rowsRead: 0, rowsWritten: 0, kvReads: 0, kvWrites: 0, queued: 0 };
  const woken: unknown[] = [];
  const note = <T>(results: D1Result<T>[]) => {
    cost.trips += 1;
    for (const { meta } of results) {
      cost.rowsRead += meta.rows_read;
      cost.rowsWritten += meta.rows_written;
    }
    return results;
  };
  const originals = new WeakMap<object, D1PreparedStatement>();
  const counted = (statement: D1PreparedStatement): D1PreparedStatement => {
    const proxy = new Proxy(statement, {
      get(target, name) {
        if (name === 'bind') return (...values: unknown[]) => counted(target.bind(...values));
        if (name === 'all' || name === 'run') return async () => note([await target[name]()])[0];
        throw new Error(`the meter does not know ${String(name)}`);
      },
    });
    originals.set(proxy, statement);
    return proxy;
  };
  const DB = {
    prepare: (query: string) => counted(env.DB.prepare(query)),
    batch: async (statements: D1PreparedStatement[]) =>
      note(await env.DB.batch(statements.map((statement) => originals.get(statement) ?? statement))),
  } as D1Database; // all that the service uses
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
