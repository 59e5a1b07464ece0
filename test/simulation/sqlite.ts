import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** Runs work of a store when its time comes, or has it fail. */
export type Through = <T>(store: string, work: () => T) => Promise<T>;

export type Machine = { now: () => number; random: () => number };

/** D1 over SQLite in memory, with the service's own tables: what is asked of it goes `through`. */
export function memoryD1(migrations: string[], through: Through, { now, random }: Machine) {
  const db = new DatabaseSync(':memory:');
  const byte = () => Math.floor(random() * 256);
  const varargs = true;
  db.function('random', { varargs }, () => BigInt(Math.floor(random() * 2 ** 52)));
  db.function('randomblob', { varargs }, (size) => Uint8Array.from({ length: Number(size) }, byte));
  db.function('unixepoch', { varargs }, (modifier) =>
    modifier === undefined ? BigInt(Math.floor(now() / 1000)) : now() / 1000,
  );
  for (const one of migrations) db.exec(one);

  const known = new Map<string, StatementSync>();
  const compiled = (text: string, arrays = false): StatementSync => {
    const key = arrays ? `arrays ${text}` : text;
    const statement = known.get(key) ?? db.prepare(text);
    if (known.size > 1000) known.clear();
    known.set(key, statement);
    statement.setReturnArrays(arrays);
    return statement;
  };
  const changes = () => Number(compiled('select total_changes() as n').all()[0]?.n);

  const prepared = (text: string, values: unknown[] = []) => {
    const bound = values.map(
      (value) => (typeof value === 'boolean' ? Number(value) : value) as SQLInputValue,
    );
    const all = () => {
      const before = changes();
      const results = compiled(text)
        .all(...bound)
        .map((row) => ({ ...row }));
      return {
        results,
        success: true,
        meta: { changes: changes() - before, size_after: 1_000_000 },
      };
    };
    return {
      own: all,
      bind: (...more: unknown[]) => prepared(text, more),
      all: () => through('D1', all),
      run: () => through('D1', all),
      raw: () => through('D1', () => compiled(text, true).all(...bound)),
    };
  };
  const transaction = (statements: ReturnType<typeof prepared>[]) => {
    db.exec('begin');
    try {
      const results = statements.map(({ own }) => own());
      db.exec('commit');
      return results;
    } catch (error) {
      db.exec('rollback');
      throw error;
    }
  };
  const d1 = {
    prepare: (text: string) => prepared(text),
    batch: (statements: ReturnType<typeof prepared>[]) =>
      through('D1', () => transaction(statements)),
  } as unknown as D1Database; // all that the service uses
  return { d1, rows: (text: string) => compiled(text).all() };
}
