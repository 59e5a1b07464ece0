/** D1's work: round trips (a batch is one), billed rows, and milliseconds by D1's clock. */
export type Rows = { trips: number; read: number; written: number; ms: number };

/** Wraps D1 and adds up in `rows` what each query costs. */
export function metered(d1: D1Database, rows: Rows): D1Database {
  const note = <T>(results: D1Result<T>[]) => {
    rows.trips += 1;
    for (const { meta } of results) {
      rows.read += meta.rows_read;
      rows.written += meta.rows_written;
      rows.ms += meta.duration;
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
  return {
    prepare: (query: string) => counted(d1.prepare(query)),
    batch: async (statements: D1PreparedStatement[]) =>
      note(await d1.batch(statements.map((statement) => originals.get(statement) ?? statement))),
  } as D1Database; // all that the service uses
}
