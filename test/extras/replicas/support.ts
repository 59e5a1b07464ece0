import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { call } from '#test/support/world.ts';

/** What is copied to the replica. What refers to something comes after it. */
const tables = [
  ...['accounts', 'connections', 'tokens', 'webhooks', 'vehicles', 'trips'],
  ...['deletions', 'archived_days', 'changes'],
];

/** The service with a replica, which knows what it was last told. Bookmarks are `seen-n`. */
export async function replicated() {
  await applyD1Migrations(env.REPLICA, env.MIGRATIONS);
  const triggers = await env.REPLICA.prepare(
    `select name from sqlite_master where type = 'trigger'`,
  ).all();
  for (const { name } of triggers.results) await env.REPLICA.prepare(`drop trigger ${name}`).run();
  /** Transactions by where they ran, and how each session was begun. */
  const ran = { primary: 0, replica: 0 };
  const begun: string[] = [];
  let copies = 0;
  const state: { failure: string | undefined } = { failure: undefined };

  const batchOn = (d1: D1Database, where: 'primary' | 'replica'): D1Database['batch'] => {
    return async <T>(statements: D1PreparedStatement[]) => {
      ran[where]++;
      if (where === 'replica' && state.failure) throw new Error(state.failure);
      return d1.batch<T>(statements);
    };
  };
  async function catchUp(): Promise<void> {
    copies++;
    const statements = [env.REPLICA.prepare('pragma defer_foreign_keys = on')];
    for (const table of tables.toReversed())
      statements.push(env.REPLICA.prepare(`delete from ${table}`));
    for (const table of tables) {
      const { results } = await env.DB.prepare(`select * from ${table}`).all<
        Record<string, unknown>
      >();
      for (const row of results) {
        const names = Object.keys(row);
        const insert = `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
        statements.push(env.REPLICA.prepare(insert).bind(...Object.values(row)));
      }
    }
    await env.REPLICA.batch(statements);
  }
  const onPrimary = {
    prepare: (text: string) => env.DB.prepare(text),
    batch: batchOn(env.DB, 'primary'),
  };
  const withSession = (constraint: string) => {
    begun.push(constraint);
    if (constraint === 'first-primary')
      return { ...onPrimary, getBookmark: () => `seen-${copies + 1}` };
    const atLeast = Number(/^seen-(\d+)$/.exec(constraint)?.[1] ?? 0);
    return {
      prepare: (text: string) => env.REPLICA.prepare(text),
      batch: async (statements: D1PreparedStatement[]) => {
        if (atLeast > copies) await catchUp();
        return batchOn(env.REPLICA, 'replica')(statements);
      },
      getBookmark: () => `seen-${copies}`,
    };
  };
  const DB = { ...onPrimary, withSession } as unknown as D1Database; // all that the service uses
  const ours: Env = { ...env, DB, READ_REPLICAS: 'true' } as Env; // wrangler.toml leaves the last out

  const request = <T = { id: string; name: string }[]>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ) => call<T>(method, path, { headers, body, bindings: ours });
  return {
    env: ours,
    call: request,
    catchUp,
    ran,
    begun,
    /** Has each transaction on the replica fail with this text; undefined: none. */
    failWith: (text: string | undefined) => {
      state.failure = text;
    },
    forget: () => {
      Object.assign(ran, { primary: 0, replica: 0 });
      begun.length = 0;
    },
  };
}
