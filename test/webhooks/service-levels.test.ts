import { env } from 'cloudflare:workers';
import { transaction } from '../../src/platform/db/database.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { openDatabase } from '../../src/platform/db/system.ts';
import { hourMs } from '../../src/platform/durations.ts';
import { handle } from '../../src/webhooks/deliveries/consumer.ts';
import { giveUp } from '../../src/webhooks/deliveries/sweep.ts';
import { addUpWaits } from '../../src/webhooks/service-levels/add-up.ts';
import { levelsOf, selectWaits } from '../../src/webhooks/service-levels/levels.ts';
import { makeDue, settled, unattempted } from '../support/deliveries.ts';
import { accident } from '../support/records.ts';
import { rows, value } from '../support/rows.ts';
import { story } from '../support/story.ts';
import { operator } from '../support/world.ts';

const { us, heard, send, register, happen } = story();

async function levels(accountId: string | undefined = us.accountId, now = Date.now()) {
  const db = openDatabase(env);
  return levelsOf(await transaction(db, selectWaits(db, accountId, now)), now);
}

const crash = () => send(accident());

/** Makes it seem that all pending deliveries were created so long ago. */
const age = (ms: number) =>
  rows(`update deliveries set id = ?1 where status = 'pending'`, newId(Date.now() - ms));

it('are those of the account, and of all, to the first attempt and to success', async () => {
  const hook = await register();
  await happen(3);
  await crash();
  await settled(hook.id, 4);
  await vi.waitFor(async () => {
    const { day, month } = await levels();
    expect(day).toEqual(month);
    expect(day.accidents).toMatchObject({ count: 1, inTime: 1, delivered: { p99: expect.any(Number) } });
    expect(day.events).toMatchObject({ count: 3, inTime: 1 });
    expect(day.events.delivered.p50).toBeLessThan(5);
  });
  expect((await levels(undefined)).day.events.count).toBeGreaterThanOrEqual(3);
  expect((await levels(crypto.randomUUID())).month.accidents.count).toBe(0);
});

it('leave out no accident that waits, and none that failed for good', async () => {
  const hook = await register();
  await unattempted(hook.id, crash);
  await age(600_000);
  expect((await levels()).day.accidents).toMatchObject({ count: 1, inTime: 0 });
  expect((await levels()).day.accidents.firstAttempt.p50).toBeCloseTo(600, -2);

  heard.returns(410);
  await makeDue(hook.id);
  await handle(env, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
  expect((await levels()).day.accidents).toMatchObject({ count: 1, inTime: 0, delivered: { p50: Infinity } });
});

it('count what was never attempted as never', async () => {
  const hook = await register();
  await unattempted(hook.id, crash);
  await rows(`update deliveries set next_attempt_at = 0 where status = 'pending'`);
  await giveUp(env);
  const never = { p50: Infinity, p95: Infinity, p99: Infinity };
  expect((await levels()).day.accidents).toMatchObject({ count: 1, firstAttempt: never, delivered: never });
});

it('leave out tests and replays', async () => {
  const hook = await register();
  await us.api.post(`/webhook/${hook.id}/test`, { type: 2 });
  await crash();
  await settled(hook.id, 2);
  const id = await value('select id from deliveries where webhook_id = ?1 and level > 0', hook.id);
  await operator.post(`/operator/deliveries/${id}/replay`, {});
  const logged = () => value('select json_array_length(log) from deliveries where id = ?1', id);
  await expect.poll(logged).toBe(2);
  expect((await levels()).day).toMatchObject({ accidents: { count: 1 }, events: { count: 0 } });
});

it('are added up each hour, and leave the day after 24 hours, the month after 30 days', async () => {
  const hook = await register();
  await crash();
  await settled(hook.id);
  const counts = async (hours: number) => {
    const { day, month } = await levels(us.accountId, Date.now() + hours * hourMs);
    return [day.accidents.count, month.accidents.count];
  };
  await expect.poll(() => counts(0)).toEqual([1, 1]);
  for (const hours of [1, 1, 3]) {
    await addUpWaits(env, Date.now() + hours * hourMs);
    expect(await counts(hours)).toEqual([1, 1]);
  }
  expect(await counts(25)).toEqual([0, 1]);
  expect(await counts(31 * 24)).toEqual([0, 0]);
  await addUpWaits(env, Date.now() + 32 * 24 * hourMs);
  expect(await rows('select 1 from service_levels where account_id = ?1', us.accountId)).toEqual([]);
});
