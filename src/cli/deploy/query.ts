import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { must, type Wrangler } from './wrangler.ts';

/** A database that exists; the jurisdiction is undefined where Cloudflare does not say. */
export type Database = { id: string; jurisdiction: string | null | undefined };
export type NamedDatabase = Database & { name: string };

/** Asks deployed databases; wrangler gets its settings for that in `folder`. */
export type Query = (
  what: string,
  database: NamedDatabase,
  sql: string,
) => Promise<{ names: string[]; region: string | undefined }>;

const Results = v.pipe(
  v.array(
    v.object({
      results: v.array(v.looseObject({ name: v.optional(v.string()) })),
      meta: v.looseObject({ served_by_region: v.optional(v.string()) }),
    }),
  ),
  v.minLength(1),
);

/**
 * Returns what asks a database for names, and which region answers. `what` says what a failure is of. It goes by the id:
 * to wrangler, a name could be one in the project's own wrangler.toml.
 */
export const queryIn =
  (folder: string, wrangler: Wrangler): Query =>
  async (what, { id, name }, sql) => {
    const config = join(folder, `${id}.json`);
    mkdirSync(folder, { recursive: true });
    const d1_databases = [{ binding: 'DB', database_name: name, database_id: id }];
    writeFileSync(config, JSON.stringify({ name: 'query', compatibility_date: '2026-11-01', d1_databases }));
    try {
      const args = ['d1', 'execute', name, '--remote', '--json', '--command', sql, '--config', config];
      const { out } = await must(what, wrangler(args));
      const [{ results, meta } = { results: [], meta: {} }] = v.parse(Results, JSON.parse(out));
      return {
        names: results.flatMap((row) => row.name ?? []),
        region: meta.served_by_region?.toLowerCase(),
      };
    } finally {
      rmSync(config, { force: true });
    }
  };
