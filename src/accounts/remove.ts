import { sql } from 'drizzle-orm';
import { change, type Database, refuseUnless } from '../platform/db/database.ts';
import { note } from './audit/note.ts';
import { nobody, operatorIn } from './owner.ts';

/** The statements that suspend an account before deletion, if it has this name. */
export const suspendToDelete = (db: Database, id: string, name: string) =>
  [
    refuseUnless(
      db,
      sql`${id} <> ${nobody} and exists (select 1 from accounts where id = ${id})`,
      'unknown account',
    ),
    refuseUnless(db, sql`(select name from accounts where id = ${id}) = ${name}`, 'wrong name'),
    note(db, operatorIn(id), {
      action: 'scheduled for deletion',
      subject: 'account',
      of: sql`select id, name from accounts where id = ${id}`,
    }),
    change(db)`update accounts set status = 'suspended' where id = ${id}`,
  ] as const;

/** The statements that delete an account's row and audit that, without its name. */
export const deleteAccountRow = (db: Database, id: string) =>
  [
    note(db, operatorIn(id), {
      action: 'deleted',
      subject: 'account',
      of: sql`select id, null as name from accounts where id = ${id}`,
    }),
    change(db)`delete from accounts where id = ${id}`,
  ] as const;
