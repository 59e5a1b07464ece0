import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { addRows, rows } from '#test/support/rows.ts';
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

  const batchOn = (d1: D1Database, where: 'primary' | 'replica'): D1Database['batch'] => {
    return async <T>(statements: D1PreparedStatement[]) => {
      ran[where]++;
      if (where === 'replica' && here.failure) throw new Error(here.failure);
      return d1.batch<T>(statements);
    };
  };
  async function catchUp(): Promise<void> {
    copies++;
    await env.REPLICA.batch([
      env.REPLICA.prepare('pragma defer_foreign_keys = on'),
      ...tables.toReversed().map((table) => env.REPLICA.prepare(`delete from ${table}`)),
    ]);
    for (const table of tables) {
      const copied = await rows(`select * from ${table}`);
      await addRows(table, copied.length, (i) => copied[i] ?? {}, { db: env.REPLICA });
    }
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
  const bindings = { ...env, DB, READ_REPLICAS: 'true' } as Env; // wrangler.toml leaves the last out
  const here = {
    call: <T = { id: string; name: string }[]>(
      method: string,
      path: string,
      headers: Record<string, string>,
      body?: object,
    ) => call<T>(method, path, { headers, body, bindings }),
    catchUp,
    ran,
    begun,
    /** With what text each transaction on the replica fails. */
    failure: undefined as string | undefined,
    forget: () => {
      Object.assign(ran, { primary: 0, replica: 0 });
      begun.length = 0;
    },
  };
  return here;
}
