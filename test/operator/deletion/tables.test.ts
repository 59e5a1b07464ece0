import { env } from 'cloudflare:workers';
import { nextRows } from '#src/operator/deletion/rows.ts';
import { tables } from '#src/operator/deletion/tables.ts';
import { addRows, rows, tableNames } from '#test/support/rows.ts';
import { world } from '#test/support/world.ts';

/** Tables that belong to the service, or whose rows the last step or triggers delete. */
const others = 'accounts database_sizes deletions jobs moves names sweeps test_calls'.split(' ');

it('names every table that may have rows of accounts', async () => {
  expect([...tables.map(({ name }) => name), ...others].sort()).toEqual(await tableNames());
});

it('finds the rows of each by its key or an index, but scans two', () => {
  const scanned = tables.filter(({ isScanned }) => isScanned);
  expect(scanned.map(({ name }) => name)).toEqual(['fan_outs', 'notifications']);
});

it('has tables after those that they refer to', async () => {
  const names = tables.map(({ name }) => name);
  for (const name of names)
    for (const { parent } of await rows<{ parent: string }>(
      'select "table" as parent from pragma_foreign_key_list(?1)',
      name,
    ))
      expect([...names.slice(0, names.indexOf(name)), 'accounts']).toContain(parent);
});

it('pages through every row once, whatever the order in which its owners were created', async () => {
  const us = await world();
  const ids = ['c', 'a', 'b'].map(
    (letter) => `${letter.repeat(8)}-0000-4000-8000-${letter.repeat(12)}`,
  );
  await addRows('portal_users', 3, (i) => ({
    id: ids[i],
    account_id: us.accountId,
    email: `${i}@example.com`,
    created_at: i,
  }));
  await addRows('sessions', 9, (i) => ({ hash: `hash-${i}-${us.accountId}`, user_id: ids[i % 3] }));
  const table = tables.find(({ name }) => name === 'sessions');
  if (!table) throw new Error('there is no such table');
  const seen: unknown[] = [];
  for (let after: unknown[] | undefined, pages = 0; after || pages === 0; pages++) {
    const { rows, next } = await nextRows(env, table, us.accountId, after, 2);
    seen.push(...rows.map(({ hash }) => hash));
    after = next;
  }
  expect(seen).toHaveLength(9);
  expect(new Set(seen).size).toBe(9);
});
