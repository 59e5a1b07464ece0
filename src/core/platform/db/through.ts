export type Called = { text: string; values: unknown[] };

/** Runs a call of D1 with these statements, counts it, or fails instead. */
export type Around = <T>(
  run: () => Promise<T>,
  statements: Called[],
  isBatch: boolean,
) => Promise<T>;

/** The database with every call going through `around`. It has the methods of D1 that the service uses. */
export function through(d1: Pick<D1Database, 'prepare' | 'batch'>, around: Around): D1Database {
  const known = new WeakMap<object, { original: D1PreparedStatement; called: Called }>();
  const wrapped = (original: D1PreparedStatement, called: Called): D1PreparedStatement => {
    const statement = {
      bind: (...values: unknown[]) => wrapped(original.bind(...values), { ...called, values }),
      all: () => around(() => original.all(), [called], false),
      run: () => around(() => original.run(), [called], false),
      raw: () => around(() => original.raw(), [called], false),
    } as D1PreparedStatement;
    known.set(statement, { original, called });
    return statement;
  };
  return {
    prepare: (text: string) => wrapped(d1.prepare(text), { text, values: [] }),
    batch: (statements: D1PreparedStatement[]) => {
      const all = statements.flatMap((statement) => known.get(statement) ?? []);
      const run = () => d1.batch(all.map(({ original }) => original));
      return around(
        run,
        all.map(({ called }) => called),
        true,
      );
    },
  } as D1Database;
}
