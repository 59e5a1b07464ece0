import { type Around, through } from '../../core/platform/db/through.ts';
import { remembered } from '../../core/platform/remembered.ts';
import { available, type Store } from './hangs.ts';
import { atMost, connected, limits, mayWritePoint, refused, spend } from './limits.ts';

const bytesOf = (value: unknown): number =>
  typeof value === 'string'
    ? new TextEncoder().encode(value).byteLength
    : value instanceof ArrayBuffer
      ? value.byteLength
      : 0;

const wrapped = new WeakMap<Env, Env>();

/** Bindings that refuse what production would refuse. */
export function strict(env: Env): Env {
  const known = wrapped.get(env);
  if (known) return known;
  const own = new Map<string, unknown>();
  // Tests replace bindings, so each is looked up when it is used.
  const fresh = new Proxy(env, {
    get(target, name: string) {
      const wrap = wrapperOf(name);
      if (!wrap || !(name in target)) return Reflect.get(target, name);
      if (!own.has(name))
        own.set(
          name,
          wrap(() => Reflect.get(target, name) as never),
        );
      return own.get(name);
    },
  });
  wrapped.set(env, fresh);
  return fresh;
}

type Wrapper = (original: () => never) => unknown;

const wrapperOf = (name: string): Wrapper | undefined => {
  if (/^DB(?:_|$)/.test(name)) return database;
  if (/^DELIVERIES(?:_|$)/.test(name)) return queue;
  if (/^ARCHIVE(?:_|$)/.test(name)) return bucket;
  return { TOKENS: namespace, ATTEMPTS: dataset }[name];
};

const call = <T>(store: Store, work: () => Promise<T>): Promise<T> =>
  connected(() => available(store, work));

function database(
  original: () => D1Database,
): Pick<D1Database, 'prepare' | 'batch' | 'withSession'> {
  const around: Around = async (run, statements, isBatch) => {
    for (const { text, values } of statements) {
      atMost('statement', bytesOf(text), 'bytes of a statement');
      atMost('arguments', mostArguments(text), 'arguments of a function');
      atMost('parameters', values.length, 'parameters of a statement');
      for (const value of values) atMost('value', bytesOf(value), 'bytes of a parameter');
      if (!isBatch && text !== aloneAllowed)
        throw refused(`a statement outside a transaction: ${text}`);
      if (changesAll.test(text)) throw refused(`an update or delete without where: ${text}`);
    }
    spend('queries', statements.length);
    return call('D1', run);
  };
  const current = {
    prepare: (text: string) => original().prepare(text),
    batch: <T>(statements: D1PreparedStatement[]) => original().batch<T>(statements),
  };
  return Object.assign(through(current, around), {
    withSession: (constraint?: string) => {
      const session = original().withSession(constraint);
      return Object.assign(through(session, around), { getBookmark: () => session.getBookmark() });
    },
  });
}

/** What the health check runs by itself. By themselves, others are not retried, and show values in errors. */
const aloneAllowed = 'select 1';

/** A statement that changes all rows of a table, as Drizzle makes it when a condition is undefined. */
const changesAll = /^\s*(?:update|delete from)\b(?!.*\bwhere\b)/is;

/** The most arguments of a function in a statement, known for the latest statements. */
const argumentsOf = remembered<number>();

const mostArguments = (text: string): number =>
  argumentsOf.get(text) ?? argumentsOf.set(text, countArguments(text), Number.POSITIVE_INFINITY);

/** Looks at functions with any number of arguments, and skips texts and quoted names. */
function countArguments(text: string): number {
  const open: { isCall: boolean; count: number }[] = [];
  let most = 0;
  const tokens = /'[^']*'|"[^"]*"|(\b(?:json_\w+|coalesce|min|max|format|concat))?\s*\(|[),]/gi;
  for (const [token, called] of text.matchAll(tokens)) {
    const inner = open.at(-1);
    if (token.endsWith('(')) open.push({ isCall: called !== undefined, count: 1 });
    else if (token === ',' && inner) inner.count++;
    else if (token === ')' && open.pop()?.isCall) most = Math.max(most, inner?.count ?? 0);
  }
  return most;
}

function queue(original: () => Queue): Queue {
  return {
    metrics: () => call('queue', () => original().metrics()),
    send: (body: unknown, options?: QueueSendOptions) => {
      atMost('message', bytesOf(JSON.stringify(body)), 'bytes of a message');
      return call('queue', () => original().send(body, options));
    },
    sendBatch: (messages: Iterable<MessageSendRequest>, options?: QueueSendBatchOptions) => {
      const all = [...messages];
      const sizes = all.map(({ body }) => bytesOf(JSON.stringify(body)));
      atMost('messages', all.length, 'messages of a batch');
      for (const size of sizes) atMost('message', size, 'bytes of a message');
      atMost(
        'batch',
        sizes.reduce((sum, size) => sum + size, 0),
        'bytes of a batch',
      );
      return call('queue', () => original().sendBatch(all, options));
    },
  } as Queue;
}

/** KV that caches misses for a minute, and accepts one write per key and second. */
function namespace(original: () => KVNamespace): Pick<KVNamespace, 'delete'> {
  const missedUntil = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  return {
    get: async (key: string, options: never) => {
      if ((missedUntil.get(key) ?? 0) > performance.now()) return null;
      const found: unknown = await call('KV', () => original().get(key, options));
      if (found === null) missedUntil.set(key, performance.now() + limits.kvMissMs);
      return found;
    },
    put: async (key: string, value: string, options: never) => {
      const before = writtenAt.get(key) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - before < limits.kvWriteMs)
        throw new Error('KV PUT failed: 429 Too Many Requests');
      writtenAt.set(key, performance.now());
      return call('KV', () => original().put(key, value, options));
    },
    delete: (key: string) => call('KV', () => original().delete(key)),
  } as Pick<KVNamespace, 'delete'>;
}

function bucket(original: () => R2Bucket): R2Bucket {
  return new Proxy({} as R2Bucket, {
    get:
      (_, name: 'head') =>
      (...args: [string]) =>
        call('R2', () => original()[name](...args)),
  });
}

function dataset(original: () => AnalyticsEngineDataset): AnalyticsEngineDataset {
  return { writeDataPoint: (point) => void (mayWritePoint() && original().writeDataPoint(point)) };
}
