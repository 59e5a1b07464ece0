import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import type { QueueMessage } from '#src/index.ts';
import type { Kernel } from './kernel.ts';

type Message = { body: QueueMessage; at: number };

/** What a deployment binds, in memory: every call of it waits for its turn. */
export function bindings(kernel: Kernel, migrations: string[]) {
  const { through } = kernel;
  const database = memoryD1(kernel, migrations);
  const bucket = memoryBucket(kernel);
  const messages: Message[] = [];
  const queue = memoryQueue(kernel, messages);
  const env = {
    OPERATOR_KEY: 'an operator key for tests, 32+ characters',
    ENCRYPTION_KEYS: `test:${new Uint8Array(32).fill(7).toBase64()}`,
    ORIGIN: 'https://portal.example.com',
    HOT_DAYS: '30',
    DELIVERY_RETENTION_DAYS: '30',
    DB: database.d1,
    DELIVERIES: queue,
    ARCHIVE: bucket.bucket,
    TOKENS: memoryKv(kernel),
    ATTEMPTS: { writeDataPoint: () => {} },
    EMAIL: { send: () => through('mail', () => ({ messageId: 'm' })) },
    ...Object.fromEntries(Object.keys(rateLimits).map((name) => [name, noLimit])),
  } as unknown as Env; // what the service uses of each
  return {
    env,
    messages,
    /** Every row and every file that there is, as text. */
    everything: () => [
      ...database
        .rows(`select name from sqlite_master where type = 'table'`)
        .flatMap(({ name }) =>
          database.rows(`select * from "${name}"`).map((row) => `${name} ${JSON.stringify(row)}`),
        ),
      ...bucket.keys(),
    ],
  };
}

const noLimit = { limit: async () => ({ success: true }) };

/** A queue that loses some messages and doubles others. */
function memoryQueue({ through, random, now, faults }: Kernel, messages: Message[]): Queue {
  const add = (body: QueueMessage, delaySeconds = 0) => {
    const copies = random() < faults.rate ? 0 : random() < faults.rate ? 2 : 1;
    for (let i = 0; i < copies; i++) messages.push({ body, at: now() + delaySeconds * 1000 });
  };
  return {
    metrics: () => through('queue', () => ({ backlogCount: messages.length })),
    send: (body: QueueMessage, { delaySeconds = 0 } = {}) =>
      through('queue', () => add(body, delaySeconds)),
    sendBatch: (batch: { body: QueueMessage }[]) =>
      through('queue', () => {
        for (const { body } of batch) add(body);
      }),
  } as unknown as Queue; // as above
}

function memoryKv({ through }: Kernel) {
  const entries = new Map<string, string>();
  return {
    get: (key: string) => through('KV', () => JSON.parse(entries.get(key) ?? 'null')),
    put: (key: string, value: string) => through('KV', () => void entries.set(key, value)),
    delete: (key: string) => through('KV', () => void entries.delete(key)),
  };
}

function memoryBucket({ through }: Kernel) {
  const files = new Map<string, ArrayBuffer>();
  const keys = () => [...files.keys()].sort();
  const object = (key: string, bytes: ArrayBuffer) => ({
    key,
    size: bytes.byteLength,
    arrayBuffer: async () => bytes.slice(0),
  });
  const bucket = {
    put: async (key: string, value: string | ArrayBuffer | Blob) => {
      const bytes = await new Blob([value]).arrayBuffer();
      return through('R2', () => {
        files.set(key, bytes);
        return object(key, bytes);
      });
    },
    get: (key: string, options?: { range?: { offset: number; length: number } }) =>
      through('R2', () => {
        const file = files.get(key);
        const { offset = 0, length = file?.byteLength ?? 0 } = options?.range ?? {};
        return file ? object(key, file.slice(offset, offset + length)) : null;
      }),
    delete: (some: string | string[]) =>
      through('R2', () => {
        for (const key of [some].flat()) files.delete(key);
      }),
    list: ({ prefix = '', limit = 1000, cursor = '', startAfter = '' } = {}) =>
      through('R2', () => {
        const all = keys().filter((key) => key.startsWith(prefix) && key > (cursor || startAfter));
        const found = all.slice(0, limit);
        return {
          objects: found.map((key) => object(key, files.get(key) ?? new ArrayBuffer())),
          truncated: all.length > limit,
          ...(all.length > limit && { cursor: found.at(-1) }),
        };
      }),
  };
  return { bucket, keys };
}

/** D1 over SQLite in memory, with the service's own tables: what is asked of it goes `through`. */
function memoryD1({ through, now, random }: Kernel, migrations: string[]) {
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
