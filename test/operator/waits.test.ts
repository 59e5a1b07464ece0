import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { hourMs } from '#src/core/platform/durations.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { giveUp } from '#src/core/webhooks/deliveries/sweep.ts';
import { accidentsInTime, selectWaits } from '#src/operator/waits.ts';
import { makeDue, settled, unattempted } from '#test/support/deliveries.ts';
import { accident } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { operator } from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();

/** The shares of this file's accounts, whose rows are all that a test's database has. */
async function shares(hours = 0) {
  const db = openDatabase(env);
  const now = Date.now() + hours * hourMs;
  return accidentsInTime(await transaction(db, selectWaits(db, now)), now);
}

beforeEach(() => rows('delete from webhook_hours'));

const crash = () => send(accident());
const both = <T>(share: T) => ({ hour: share, day: share });

it('accidents attempted at once are in time, for this hour and for 24, and events do not count', async () => {
  const hook = await register();
  expect(await shares()).toEqual(both({ count: 0, inTime: null }));
  await happen(3);
  await crash();
  await settled(hook.id, 4);
  await expect.poll(() => shares()).toEqual(both({ count: 1, inTime: 1 }));
  expect(await shares(1)).toEqual({
    hour: { count: 0, inTime: null },
    day: { count: 1, inTime: 1 },
  });
  expect(await shares(24)).toEqual(both({ count: 0, inTime: null }));
});

it('an accident that waits for more than 5 s is late, also once it is attempted, and counts once', async () => {
  const hook = await register();
  await unattempted(hook.id, crash);
  expect(await shares()).toEqual(both({ count: 0, inTime: null }));
  await rows(`update deliveries set id = ?1 where status = 'pending'`, newId(Date.now() - 600_000));
  expect(await shares()).toEqual(both({ count: 1, inTime: 0 }));
  heard.returns(500);
  for (let attempt = 0; attempt < 2; attempt++) {
    await makeDue(hook.id);
    await handle(env, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
    expect(await shares()).toEqual(both({ count: 1, inTime: 0 }));
  }
});

it('an accident that was never attempted is late', async () => {
  const hook = await register();
  await unattempted(hook.id, crash);
  await rows(`update deliveries set next_attempt_at = 0 where status = 'pending'`);
  await giveUp(env);
  expect(await shares()).toEqual(both({ count: 1, inTime: 0 }));
});

it('tests and replays do not count', async () => {
  const hook = await register();
  await us.api.post(`/webhook/${hook.id}/test`, { type: 1 });
  await settled(hook.id);
  await crash();
  await settled(hook.id, 2);
  const id = await value(
    'select max(id) from deliveries where webhook_id = ?1 and is_test = 0',
    hook.id,
  );
  await operator.post(`/operator/deliveries/${id}/replay`, {});
  await expect
    .poll(() => value('select json_array_length(log) from deliveries where id = ?1', id))
    .toBe(2);
  await expect.poll(() => value('select sum(delivered) from webhook_hours')).toBe(3);
  expect(await shares()).toEqual(both({ count: 1, inTime: 1 }));
});
