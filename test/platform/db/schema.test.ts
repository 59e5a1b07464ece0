import { getTableName, is } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { lists } from '../../../src/fleet/lists/registry.ts';
import * as tables from '../../../src/platform/db/tables.ts';
import { rows } from '../../support/rows.ts';

const declared = [
  ...new Set<SQLiteTable>([
    ...Object.values(tables).filter((table) => is(table, SQLiteTable)),
    ...lists.map(({ table }) => table),
  ]),
];
type ColumnInfo = { name: string; type: string; notnull: number };

// Columns that only SQL reads are declared by nobody.
it.each(declared.map((table) => [getTableName(table), table] as const))(
  'the declared columns of %s are as migrated',
  async (name, table) => {
    const info = await rows<ColumnInfo>('select * from pragma_table_info(?1)', name);
    const migrated = info.map(({ name, type, notnull }) => [name, [type.toLowerCase(), notnull === 1]]);
    const columns = getTableConfig(table).columns.map((one) => [one.name, [one.getSQLType(), one.notNull]]);
    expect(Object.fromEntries(migrated)).toMatchObject(Object.fromEntries(columns));
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
