import { app } from '../../app.ts';

/** Round trips from the Worker, in milliseconds; without `replica` there are none. */
type Distances = { primary: number; replica: number | undefined; kv: number };

const distant = new Map<string, Env>();

/**
 * The service as it would be at a distance from its database: the header `x-distances` holds the round trips as
 * `primary,replica,kv`, where the second may be empty.
 */
export function farAway(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
  const header = request.headers.get('x-distances') ?? '';
  const known = distant.get(header) ?? at(env, distancesOf(header));
  distant.set(header, known);
  return app.fetch(request, known, ctx);
}

function distancesOf(header: string): Distances {
  const [primary = '', replica = '', kv = ''] = header.split(',');
  return { primary: Number(primary), replica: replica ? Number(replica) : undefined, kv: Number(kv) };
}

function at(env: Env, { primary, replica, kv }: Distances): Env {
  const TOKENS = new Proxy(env.TOKENS, {
    get: (target, name) => {
      const method = Reflect.get(target, name).bind(target);
      return name === 'get' ? async (...args: unknown[]) => after(kv, () => method(...args)) : method;
    },
  });
  const session = (constraint: string): D1DatabaseSession => {
    const original = env.DB.withSession(constraint);
    const ms = constraint === 'first-primary' || replica === undefined ? primary : replica;
    return { ...delayed(original, ms), getBookmark: () => original.getBookmark() } as D1DatabaseSession; // as below
  };
  const DB = { ...delayed(env.DB, primary), withSession: session } as D1Database; // all that the service uses
  const READ_REPLICAS = replica === undefined ? 'false' : 'true';
  return { ...env, DB, TOKENS, READ_REPLICAS } as Env; // wrangler.toml leaves the last out
}

/** A database whose replies take a round trip longer. */
function delayed(d1: Pick<D1Database, 'prepare' | 'batch'>, ms: number) {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const slow = (original: D1PreparedStatement): D1PreparedStatement => {
    const statement = {
      bind: (...values: unknown[]) => slow(original.bind(...values)),
      all: () => after(ms, () => original.all()),
      run: () => after(ms, () => original.run()),
      raw: () => after(ms, () => original.raw()),
    } as unknown as D1PreparedStatement; // all that the service uses
    originals.set(statement, original);
    return statement;
  };
  return {
    prepare: (text: string) => slow(d1.prepare(text)),
    batch: (statements: D1PreparedStatement[]) =>
      after(ms, () => d1.batch(statements.map((one) => originals.get(one) ?? one))),
  };
}

async function after<T>(ms: number, work: () => Promise<T>): Promise<T> {
  if (ms > 0) await scheduler.wait(ms);
  return work();
}
