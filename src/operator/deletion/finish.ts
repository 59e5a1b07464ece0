import { sql } from 'drizzle-orm';
import { deleteAccountRow } from '../../accounts/remove.ts';
import { deleteConnectionRow } from '../../fleet/remove.ts';
import { change, type Database, openDatabase, transaction } from '../../platform/db/database.ts';
import { removeFanOuts } from '../../webhooks/deliveries/cancel.ts';
import type { Deletion } from './state.ts';

/** The last step: deletes the row that everything else hung on, and with it the deletion. */
export async function finish(env: Env, deletion: Deletion): Promise<undefined> {
  const db = openDatabase(env);
  const last = {
    account: () => [removeFanOuts(db, deletion), ...deleteAccountRow(db, deletion.id)],
    connection: () => connectionRows(db, deletion.id),
    driver: () => [],
  };
  const done = change(db, sql`delete from deletions where id = ${deletion.id}`);
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

/** Deletes a connection's row, once all that names it is gone. */
export async function finishConnection(env: Env, id: string): Promise<void> {
  const db = openDatabase(env);
  const [first, ...others] = connectionRows(db, id);
  if (first) await transaction(db, [first, ...others], { repeatable: true });
}

/** With the marks of its drivers that were erased: they keep nobody out any more. */
const connectionRows = (db: Database, id: string) => [
  change(db, sql`delete from erased_drivers where connection_id = ${id}`),
  deleteConnectionRow(db, id),
];
