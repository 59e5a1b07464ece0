import { type Column, getTableName, is, type SQL } from 'drizzle-orm';
import {
  getTableConfig,
  type SQLiteColumn,
  SQLiteSyncDialect,
  SQLiteTable,
} from 'drizzle-orm/sqlite-core';
import { lists } from '#src/core/fleet/lists/registry.ts';
import { rows, tableNames } from '#test/support/rows.ts';

const files = {
  ...import.meta.glob<object>('../../../../src/core/platform/db/schema/*.ts', { eager: true }),
  ...import.meta.glob<object>('../../../../src/{extras,operator,people}/**/tables.ts', {
    eager: true,
  }),
};
const declared = Object.values(files)
  .flatMap((file) => Object.values(file))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable));

it('every table is declared, once', async () => {
  expect(declared.map(getTableName).sort()).toEqual(await tableNames());
});

const dialect = new SQLiteSyncDialect();

/** As migrations write it: without quotes, and names of the table. */
const plain = (sql: SQL): string =>
  dialect.sqlToQuery(sql).sql.replaceAll(/"(?:\w+"\.")?(\w+)"/g, '$1');

const defaultOf = (column: Column): string | null => {
  if (column.default === undefined) return null;
  const stored = column.mapToDriverValue(column.default);
  return typeof stored === 'string' ? `'${stored}'` : String(Number(stored));
};

it.each(declared.map((table) => [getTableName(table), getTableConfig(table)] as const))(
  'the table %s is declared as migrated: its columns, keys and indexes',
  async (name, { columns, primaryKeys, foreignKeys, indexes }) => {
    type Info = { name: string; type: string; pk: number; required: number; dflt_value: string };
    const info = await rows<Info>(
      'select name, lower(type) as type, pk, "notnull" or pk as required, dflt_value from pragma_table_info(?1)',
      name,
    );
    expect(
      columns.map((one) => [one.name, one.getSQLType(), one.notNull, defaultOf(one)]).sort(),
    ).toEqual(info.map((one) => [one.name, one.type, one.required === 1, one.dflt_value]).sort());

    const key = info.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    const own = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
    expect(own.map((column) => column.name)).toEqual(key.map((one) => one.name));

    const references = await rows(
      'select "from", "table", "to", lower(on_delete) as onDelete from pragma_foreign_key_list(?1) order by 1',
      name,
    );
    const foreign = foreignKeys.map(({ reference, onDelete = 'no action' }) => {
      const { columns, foreignColumns, foreignTable } = reference();
      const table = getTableName(foreignTable);
      return { from: columns[0]?.name, table, to: foreignColumns[0]?.name, onDelete };
    });
    const byName = foreign.sort((a, b) => String(a.from).localeCompare(String(b.from)));
    expect(byName).toEqual(references);

    const migrated = await rows<{ sql: string }>(
      "select sql from sqlite_master where type = 'index' and tbl_name = ?1 and sql is not null",
      name,
    );
    const declarations = indexes.map(({ config }) => {
      const parts = config.columns.map((one) => ('getSQL' in one ? plain(one.getSQL()) : one));
      const where = config.where && ` where ${plain(config.where)}`;
      return `create ${config.unique ? 'unique ' : ''}index ${config.name} on ${name} (${parts.join(', ')})${where ?? ''}`;
    });
    const asWritten = migrated.map(({ sql }) =>
      sql.replaceAll(/\s+/g, ' ').replace(/^CREATE (UNIQUE )?INDEX/, (all) => all.toLowerCase()),
    );
    expect(declarations.sort()).toEqual(asWritten.sort());
  },
);

it.each(lists.map(({ list }) => [list.path, list] as const))(
  'an index leads to the rows of %s in each way in which it is read',
  async (_, { table, columns, order, connection, connectionRequired, filters }) => {
    const leads = [
      ...(connectionRequired ? [] : [[table.accountId]]),
      ...(connection === table.id ? [] : [[connection]]),
      ...Object.values(filters).flatMap(({ where, ofAccount, column }) =>
        where ? [] : [[...(ofAccount ? [table.accountId] : []), column]],
      ),
    ];
    const indexes = await rows(
      `select (select group_concat(coalesce(name, substr(l.name, instr(l.name, '_by_') + 4) || '_id'))
          from pragma_index_info(l.name)) as columns, "unique" as once
       from pragma_index_list(?1) l where origin = 'c'`,
      getTableName(table),
    );
    const named = (list: (SQLiteColumn | undefined)[]) => list.map((column) => column?.name).join();
    for (const lead of leads) {
      const inOrder = { columns: named([...lead, columns[order], table.id]), once: 0 };
      expect([inOrder, { columns: named(lead), once: 1 }]).toContainEqual(
        indexes.find(({ columns }) => columns === inOrder.columns || columns === named(lead)),
      );
    }
  },
);
