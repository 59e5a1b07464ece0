import { env } from 'cloudflare:workers';
import { getTableName, is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { lists } from '../../../src/fleet/lists/registry.ts';
import * as tables from '../../../src/platform/db/tables.ts';
import { rows } from '../../support/rows.ts';

const declared = [
  ...new Set<SQLiteTable>([
    ...Object.values(tables).filter((table) => is(table, SQLiteTable)),
    ...lists.map(({ table }) => table),
  ]),
];
type ColumnInfo = { name: string; type: string; notnull: number; pk: number };

it.each(declared.map((table) => [getTableName(table), table] as const))(
  'columns, key and indexes of %s are as migrated',
  async (name, table) => {
    const { columns, primaryKeys, indexes } = getTableConfig(table);
    const info = await env.DB.prepare(`select * from pragma_table_info(?1)`).bind(name).all<ColumnInfo>();
    const composite = primaryKeys[0]?.columns.map((column) => column.name) ?? [];
    expect(
      Object.fromEntries(
        columns.map((column) => [
          column.name,
          [column.getSQLType(), column.notNull, column.primary || composite.includes(column.name)],
        ]),
      ),
    ).toEqual(
      Object.fromEntries(
        info.results.map(({ name, type, notnull, pk }) => [
          name,
          [type.toLowerCase(), notnull === 1, pk > 0],
        ]),
      ),
    );
    const results = await rows(
      `select l.name, l."unique", (select group_concat(name) from pragma_index_info(l.name)) as columns
       from pragma_index_list(?1) l where origin = 'c'`,
      name,
    );
    const inCode = indexes.map(({ config }) => ({
      name: config.name,
      unique: config.unique ? 1 : 0,
      columns: config.columns.map((column) => ('name' in column ? column.name : '')).join(','),
    }));
    expect(inCode.sort((a, b) => a.name.localeCompare(b.name))).toEqual(
      results.sort((a, b) => String(a.name).localeCompare(String(b.name))),
    );
  },
);
