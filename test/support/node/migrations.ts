import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationsDirectory } from '#src/cli/deploy/schema.ts';

/** The migrations in order, split into statements as Cloudflare may split them. */
export const strictMigrations = (): { name: string; queries: string[] }[] =>
  readdirSync(migrationsDirectory)
    .sort()
    .map((name) => ({
      name,
      queries: statementsOf(readFileSync(join(migrationsDirectory, name), 'utf8')),
    }));

/**
 * Splits as the endpoint behind `d1 migrations apply --remote` does, where it is known to be at its worst: each semicolon
 * ends a statement, in comments too, unless it is between BEGIN and the next END, both in capitals and on one line.
 */
export const statementsOf = (sql: string): string[] =>
  sql.match(/(?:\bBEGIN\b[^\r\n]*?\bEND\b|[^;])*;/g) ?? [];
