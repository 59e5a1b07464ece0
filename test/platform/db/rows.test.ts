import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { transaction, write } from '../../../src/platform/db/database.ts';
import { assigned, insertRow, readRows, writeRows } from '../../../src/platform/db/rows.ts';
import { accounts } from '../../../src/platform/db/schema/accounts.ts';
import { openDatabase } from '../../../src/platform/db/system.ts';

const db = openDatabase(env);

it('rows are written and read as their table declares them, also what is left out or in SQL', async () => {
  const account = {
    id: 'rows',
    name: "It's one",
    createdAt: 5,
    held: true,
    quotas: { records: 3 },
  };
  const added = { ...account, status: 'active', units: 'metric', cell: null };
  const name = sql<string>`upper(name)`;
  const results = await transaction(db, {
    inserted: insertRow(db, accounts, { ...account, units: undefined }),
    read: readRows(db, accounts, { loud: name, again: accounts.quotas })`where id = 'rows'`,
    changed: write(
      db,
    )`update accounts set ${assigned(accounts, { held: false, name, cell: undefined })}
      where id = 'rows'`,
    removed: writeRows(db, accounts)`delete from accounts where id = 'rows'`,
  });
  expect(results).toMatchObject({
    read: [{ ...added, loud: "IT'S ONE", again: { records: 3 } }],
    changed: { meta: { changes: 1 } },
    removed: [{ ...added, name: "IT'S ONE", held: false }],
  });
});
