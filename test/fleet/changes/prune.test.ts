import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { keptMs, pruneChanges } from '../../../src/fleet/note-changes.ts';
import { hourMs } from '../../../src/platform/durations.ts';
import { rows } from '../../support/rows.ts';
import { metered } from '../../support/runtime/meter.ts';

const now = Date.now();

/** An account with changes, a minute apart: those of so many minutes are older than what is kept, and the rest is not. */
const insert = (accountId: string, old: number, young: number) =>
  rows(
    `with recursive n (i) as (select -?2 union all select i + 1 from n where i < ?3)
     insert into changes (account_id, seq, connection_id, action, records)
     select ?1, ?4 + i * 60000, 'c', 'changed', '{}' from n where i <> 0`,
    accountId,
    old,
    young,
    now - keptMs,
  );
const left = async (accountId: string) =>
  (await rows('select count(*) as n from changes where account_id = ?1', accountId))[0]?.n;

beforeEach(() => rows('delete from changes'));

it('changes older than 30 days are deleted, and no others', async () => {
  await insert('a', 3, 50);
  await insert('b', 0, 50);
  await insert('c', 10, 0);
  expect(await pruneChanges(env, now)).toBe(13);
  expect([await left('a'), await left('b'), await left('c')]).toEqual([50, 50, 0]);
  expect(await pruneChanges(env, now)).toBe(0);
  expect(await pruneChanges(env, now + hourMs)).toBe(2 * 50);
});

it('that reads what it deletes, and next to nothing of what stays', async () => {
  for (let account = 0; account < 20; account++) await insert(`account ${account}`, 5, 500);
  const { env: bindings, cost } = metered();
  await pruneChanges(bindings, now);
  expect(cost.trips).toBe(1);
  expect(cost.read).toBeLessThanOrEqual(4 * 100 + 8 * 20);
});
