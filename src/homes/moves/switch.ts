import { sql } from 'drizzle-orm';
import { note } from '../../accounts/audit/note.ts';
import { activate, leave } from '../../accounts/home.ts';
import { operatorIn } from '../../accounts/owner.ts';
import { change, openDatabase, statement } from '../../platform/db/database.ts';
import { untilCachesExpire } from '../../platform/db/token-cache.ts';
import { nameOf } from '../../platform/homes/homes.ts';
import { noteMoved } from '../../platform/homes/moved.ts';
import { forgetTimers } from '../../webhooks/deliveries/queue.ts';
import { goTo, inNewHome, inOldHome, type Job, noteWritable, resume } from './state.ts';

/**
 * Switches the account to the new home: first both homes can be read, then the new one alone, and only then can it be
 * written. So reads never fail, and never can both be written.
 */
export async function switchHomes(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [account] = await statement<{ name: string; status: string; units: string }>(openDatabase(from))`
    select name, status, units from accounts where id = ${accountId}`;
  if (!account) throw new Error('An account that moves is there');
  await inNewHome(job, (db) => [activate(db, accountId, account)]);
  await inOldHome(job, (db) => [leave(db, accountId, nameOf(to)), goTo(db, job, 'opening')]);
  noteMoved(accountId, nameOf(to));
}

/** Allows writes in the new home, where the next minute starts what is due. */
export async function openNewHome(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [arriving] = await statement(openDatabase(to))`
    select 1 from moves where account_id = ${accountId} and role = 'arriving'`;
  if (arriving)
    await inNewHome(job, (db) => [
      note(db, operatorIn(accountId), {
        action: 'changed',
        subject: 'account',
        of: sql`select id, name from accounts where id = ${accountId}
          and exists (select 1 from moves where account_id = ${accountId} and role = 'arriving')`,
        fields: ['home'],
      }),
      // The wake-up messages for these times are in the old home's queue.
      forgetTimers(db, accountId),
      ...resume(db, accountId),
      change(db)`delete from moves where account_id = ${accountId} and role = 'arriving'`,
    ]);
  await inOldHome(job, (db) => [noteWritable(db, accountId)]);
  await untilCachesExpire(from); // until then a replica may still be read
  await inOldHome(job, (db) => [goTo(db, job, 'cleaning up')]);
}
