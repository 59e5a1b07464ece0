/** What the service calls of D1. */
type Kind = 'batch' | 'all' | 'run' | 'raw' | 'first';

/**
 * A database whose calls go through `call`, which runs them, counts them, or fails instead. It is given the statements
 * of a batch.
 */
export function through(
  db: D1Database,
  call: <T>(kind: Kind, run: () => Promise<T>, statements: D1PreparedStatement[]) => Promise<T>,
): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrapped = (original: D1PreparedStatement): D1PreparedStatement => {
    const statement = {
      bind: (...values: unknown[]) => wrapped(original.bind(...values)),
      all: () => call('all', () => original.all(), []),
      run: () => call('run', () => original.run(), []),
      raw: () => call('raw', () => original.raw(), []),
      first: (column: string) => call('first', () => original.first(column), []),
    } as unknown as D1PreparedStatement; // all that the service uses
    originals.set(statement, original);
    return statement;
  };
  return {
    prepare: (text: string) => wrapped(db.prepare(text)),
    batch: (statements: D1PreparedStatement[]) => {
      const plain = statements.map((statement) => originals.get(statement) ?? statement);
      return call('batch', () => db.batch(plain), plain);
    },
  } as unknown as D1Database; // as above
}

/** A database of which every call fails, as D1 does when it has too much to do. */
export const overloaded = (db: D1Database): D1Database =>
  through(db, () =>
    Promise.reject(new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')),
  );
