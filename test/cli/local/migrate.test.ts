import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../../../src/cli/local/migrate.ts';
import { root } from '../../../src/cli/project/paths.ts';
import { temporaryFolder } from '../../support/node/folder.ts';

it('local data of an older version is left alone, and how to delete it is said', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'state');
  await migrate(state);
  await expect(migrate(state)).resolves.toBeUndefined();
  writeFileSync(join(state, 'migrated'), '0001_accounts.sql 0123456789abcdef');
  await expect(migrate(state)).rejects.toThrow('npm start -- --fresh');
});

it('a delivery of the first release keeps its payload and request', () => {
  const db = new DatabaseSync(':memory:');
  const files = readdirSync(join(root, 'migrations')).sort();
  const apply = (from: number, to?: number) => {
    for (const file of files.slice(from, to))
      db.exec(readFileSync(join(root, 'migrations', file), 'utf8'));
  };
  apply(0, 6);
  db.exec(`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, connection_id, request_id, data)
    values ('w', '019a2f00-0000-7000-8000-000000000001', 'a', 'e', 0, 'delivered', 'c', 'r', '{"eventId": "e"}');
    insert into changes (account_id, seq, connection_id, action, records) values ('a', 1, 'c', 'changed', '{}')`);
  apply(6);
  const [kept] = db.prepare('select * from notifications').all();
  expect(kept).toMatchObject({
    event_id: 'e',
    level: 0,
    type: 2,
    connection_id: 'c',
    request_id: 'r',
  });
  expect(kept).toMatchObject({ data: '{"eventId": "e"}', created_at: 0x019a2f000000 });
  expect(db.prepare('select account_id, seq, records from changes').all()).toMatchObject([
    { account_id: 'a', seq: 1, records: '{}' },
  ]);
});
