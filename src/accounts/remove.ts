import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase, refuseUnless } from '../platform/db/database.ts';
import { type Remover, rowsPerChunk, untilNone } from '../platform/jobs/chunks.ts';
import { note } from './audit/note.ts';
import { nobody, operatorIn } from './owner.ts';

/** Few, because their sessions go with them. */
const peoplePerChunk = 100;

/** Deletes the account's people, with their sessions and sign-in links, and its invitations. */
export const removePeople: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [
    sql`delete from portal_users where id in (
      select id from portal_users where account_id = ${accountId} limit ${peoplePerChunk})`,
    sql`delete from invitations where account_id = ${accountId} and id in (
      select id from invitations where account_id = ${accountId} limit ${rowsPerChunk})`,
  ]);

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
