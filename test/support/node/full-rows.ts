import { DatabaseSync } from 'node:sqlite';
import { boundOf } from '#test/support/row-bounds.ts';

type Column = { name: string; type: string };

const id = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

/** The value of a column that a row of the table can have, and that takes most room in a dump. */
function largest(table: string, { name, type }: Column, sql: string): string | number {
  const [, list = ''] =
    new RegExp(`\\b${name}\\s+text[^\\n]*check \\(${name} in \\(([^)]*)\\)`).exec(sql) ?? [];
  const [, choice] = [...list.matchAll(/'([^']*)'/g)].at(-1) ?? [];
  if (choice !== undefined) return choice;
  const [, least = '1'] =
    new RegExp(`check \\(${name} (?:between|in \\()\\s*(\\d+)`).exec(sql) ?? [];
  if (type !== 'TEXT') return Number(least);
  if (name === 'id' || name.endsWith('_id')) return id;
  const bytes = boundOf(table, name) ?? 0;
  return sql.includes(`json_valid(${name})`) ? `[${' '.repeat(bytes - 2)}]` : "'".repeat(bytes / 2);
}

/** Adds a row to each table, with the longest texts that it can have. Returns the tables. */
export function addFullRows(path: string): string[] {
  const database = new DatabaseSync(path);
  database.exec('pragma foreign_keys = off');
  const tables = database
    .prepare(`select name, sql from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'
      and name not like 'sqlite%' and name not like 'd1%'`)
    .all() as { name: string; sql: string }[];
  for (const { name: table, sql } of tables) {
    const columns = database
      .prepare(`select name, type from pragma_table_info(?)`)
      .all(table) as Column[];
    const values = columns.map((column) => largest(table, column, sql));
    const marks = columns.map(() => '?').join(', ');
    database.prepare(`insert or ignore into "${table}" values (${marks})`).run(...values);
  }
  database.close();
  return tables.map(({ name }) => name);
}
