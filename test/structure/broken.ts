/** Code that breaks each rule: [the rule, what the check prints in one line with the file's path, the file, code]. */
export const broken = [
  [
    'routes know no SQL',
    'Routes and pages know no tables and no SQL',
    'src/fuel/routes.ts',
    `import { sql } from 'drizzle-orm'; export const all = sql;`,
  ],
  [
    'pages know no tables',
    'Routes and pages know no tables and no SQL',
    'src/portal/fuel.tsx',
    `import { vehicles } from '../db/tables.ts'; export const all = vehicles;`,
  ],
  [
    'services do not know Hono',
    'Services do not know HTTP',
    'src/fuel/service.ts',
    `import type { Context } from 'hono'; export type Caller = Context;`,
  ],
  [
    'services do not know http/',
    'Services do not know HTTP',
    'src/fuel/prices.ts',
    `export const ok = async () => (await import("../http/envelope.ts")).ok;`,
  ],
  [
    'a feature uses no routes of another',
    `A feature's routes and SQL are its own`,
    'src/fuel/links.ts',
    `export { fleetRoutes } from '../fleet/routes.ts';`,
  ],
  [
    'a feature uses no SQL of another',
    `A feature's routes and SQL are its own`,
    'src/fuel/rows.ts',
    `export type Rows = typeof import("../ingest/statements.ts");`,
  ],
  [
    'only http/ knows status codes',
    'Only http/ knows status codes',
    'src/fuel/replies.ts',
    `export const none = (missing: boolean) => Response.json({}, { status: missing ? 404 : 200 });`,
  ],
  [
    'a database is opened for a caller',
    'Reach account data through asCaller',
    'src/fuel/reads.ts',
    `import { openDatabase } from '../db/database.ts'; export const open = openDatabase;`,
  ],
  [
    'D1 is reached through db/',
    'Reach account data through asCaller',
    'src/fuel/raw.ts',
    `export const raw = (env: Env) => env.DB.prepare('select 1');`,
  ],
  [
    'types do not shadow globals',
    'A global type has this name',
    'src/fuel/types.ts',
    `export type Range = { from: number; to: number };`,
  ],
  [
    'Worker code imports nothing of Node',
    `Cannot find name 'node:fs'`,
    'src/fuel/files.ts',
    `import { readFileSync } from 'node:fs'; export const read = readFileSync;`,
  ],
  [
    'Worker code reads no process.env',
    'Do not use the global variable process',
    'src/fuel/settings.ts',
    `export const level = process.env.LOG_LEVEL;`,
  ],
  [
    'Worker code uses no Buffer',
    'Do not use the global variable Buffer',
    'src/fuel/bytes.ts',
    `export const bytes = Buffer.from('fuel');`,
  ],
  [
    'Node programs see no bindings',
    `Cannot find name 'D1Database'`,
    'src/cli/fuel.ts',
    `export const open = (env: { DB: D1Database }) => env.DB;`,
  ],
  [
    'Node programs import no Worker code',
    'src/cli/mixed.ts is Node code, but imports src/encoding.ts',
    'src/cli/mixed.ts',
    `export { base64url } from '../encoding.ts';`,
  ],
  [
    'Worker code imports no Node program',
    'src/fuel/mixed.ts is Worker code, but imports src/cli/mixed.ts',
    'src/fuel/mixed.ts',
    `import '../cli/mixed.ts';`,
  ],
  [
    'folders form no cycle',
    '  src/errors.ts imports src/db/guard.ts',
    'src/errors.ts',
    `\nexport type { Caller } from './db/guard.ts';\n`,
  ],
  [
    'a table is written by one feature',
    'both write the table tokens',
    'src/fuel/writes.ts',
    'export const write = (db: { run(sql: string): unknown }) => db.run(`delete from tokens`);',
  ],
] as const;

/** Code that keeps to the rules, so that they forbid no more than they mean to. */
export const allowed = {
  'src/tolls/routes.ts': `import { Hono } from 'hono';
    import type { App } from '../http/context.ts';
    import { ok } from '../http/envelope.ts';
    import { allTolls } from './service.ts';
    export const tollRoutes = new Hono<App>().get('/tolls', async (c) => ok(c, 'Tolls', await allTolls(c.env, c.get('caller'))));`,
  'src/tolls/service.ts': `import { sql } from 'drizzle-orm';
    import { statement } from '../db/database.ts';
    import { asCaller, type Caller } from '../db/guard.ts';
    export const allTolls = (env: Env, caller: Caller, limit = 500) =>
      asCaller(env, caller, (db) => [statement(db, sql\`select * from vehicles limit \${limit}\`)]);`,
  'src/cli/tolls.ts': `import { readFileSync } from 'node:fs';
    export const read = (path = process.env.TOLLS ?? 'tolls') => Buffer.from(readFileSync(path));`,
};
