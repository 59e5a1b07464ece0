/** Code that breaks each rule: [the rule, what the check prints in one line with the file's path, the file, code]. */
export const broken = [
  [
    'routes know no SQL',
    'Routes and pages know no tables and no SQL',
    'src/fleet/fuel/routes.ts',
    `import { sql } from 'drizzle-orm'; export const all = sql;`,
  ],
  [
    'pages know no tables',
    'Routes and pages know no tables and no SQL',
    'src/portal/fuel.tsx',
    `import { vehicles } from '../platform/db/tables.ts'; export const all = vehicles;`,
  ],
  [
    'services do not know Hono',
    'Services do not know HTTP',
    'src/fleet/fuel/service.ts',
    `import type { Context } from 'hono'; export type Caller = Context;`,
  ],
  [
    'services do not know http/',
    'Services do not know HTTP',
    'src/fleet/fuel/prices.ts',
    `export const ok = async () => (await import("../../platform/http/envelope.ts")).ok;`,
  ],
  [
    'a feature uses no routes of another',
    `A feature's routes and SQL are its own`,
    'src/fleet/fuel/links.ts',
    `export { fleetRoutes } from '../../fleet/routes.ts';`,
  ],
  [
    'a feature uses no SQL of another',
    `A feature's routes and SQL are its own`,
    'src/fleet/fuel/rows.ts',
    `export type Rows = typeof import("../../ingest/statements.ts");`,
  ],
  [
    'only http/ knows status codes',
    'Only http/ knows status codes',
    'src/fleet/fuel/replies.ts',
    `export const none = (missing: boolean) => Response.json({}, { status: missing ? 404 : 200 });`,
  ],
  [
    'a database is opened for a caller',
    'Reach account data through asCaller',
    'src/fleet/fuel/reads.ts',
    `import { openDatabase } from '../../platform/db/database.ts'; export const open = openDatabase;`,
  ],
  [
    'D1 is reached through db/',
    'Reach account data through asCaller',
    'src/fleet/fuel/raw.ts',
    `export const raw = (env: Env) => env.DB.prepare('select 1');`,
  ],
  [
    'types do not shadow globals',
    'A global type has this name',
    'src/fleet/fuel/types.ts',
    `export type Range = { from: number; to: number };`,
  ],
  [
    'Worker code imports nothing of Node',
    `Cannot find name 'node:fs'`,
    'src/fleet/fuel/files.ts',
    `import { readFileSync } from 'node:fs'; export const read = readFileSync;`,
  ],
  [
    'Worker code reads no process.env',
    'Do not use the global variable process',
    'src/fleet/fuel/settings.ts',
    `export const level = process.env.LOG_LEVEL;`,
  ],
  [
    'Worker code uses no Buffer',
    'Do not use the global variable Buffer',
    'src/fleet/fuel/bytes.ts',
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
    'src/cli/mixed.ts is Node code, but imports src/platform/crypto.ts',
    'src/cli/mixed.ts',
    `export { base64url } from '../platform/crypto.ts';`,
  ],
  [
    'Worker code imports no Node program',
    'src/fleet/fuel/mixed.ts is Worker code, but imports src/cli/mixed.ts',
    'src/fleet/fuel/mixed.ts',
    `import '../../cli/mixed.ts';`,
  ],
  [
    'folders form no cycle',
    '  src/platform/errors.ts imports src/platform/db/guard.ts',
    'src/platform/errors.ts',
    `\nexport type { Caller } from './db/guard.ts';\n`,
  ],
  [
    'rooms import downwards only',
    'imports src/webhooks/service.ts, from a room above its own',
    'src/fleet/fuel/upwards.ts',
    `export { createWebhook } from '../../webhooks/service.ts';`,
  ],
  [
    'a table is written by one feature',
    'both write the table tokens',
    'src/fleet/fuel/writes.ts',
    'export const write = (db: { run(sql: string): unknown }) => db.run(`delete from tokens`);',
  ],
  [
    'prose is wrapped',
    'src/docs/fuel.md:2 is longer than 120 characters',
    'src/docs/fuel.md',
    `# Fuel\n${'long '.repeat(25)}\n`,
  ],
] as const;

/** Code that keeps to the rules, so that they forbid no more than they mean to. */
export const allowed = {
  'src/fleet/tolls/routes.ts': `import { Hono } from 'hono';
    import type { App } from '../../platform/http/context.ts';
    import { ok } from '../../platform/http/envelope.ts';
    import { allTolls } from './service.ts';
    export const tollRoutes = new Hono<App>().get('/tolls', async (c) => ok(c, 'Tolls', await allTolls(c.env, c.get('caller'))));`,
  'src/fleet/tolls/service.ts': `import { statement } from '../../platform/db/database.ts';
    import { asCaller, type Caller } from '../../platform/db/guard.ts';
    export const allTolls = (env: Env, caller: Caller, limit = 500) =>
      asCaller(env, caller, (db) => [statement(db)\`select * from vehicles limit \${limit}\`]);`,
  'src/cli/tolls.ts': `import { readFileSync } from 'node:fs';
    export const read = (path = process.env.TOLLS ?? 'tolls') => Buffer.from(readFileSync(path));`,
};
