import { transaction } from '#src/core/platform/db/database.ts';
import { leaseMs, type Recorded } from '#src/core/webhooks/deliveries/policy.ts';
import { claimStatements } from '#src/core/webhooks/deliveries/send/claim.ts';
import { recordStatements } from '#src/core/webhooks/deliveries/send/record.ts';
import { accident, claim, db, deliveriesOf, story, unattempted } from '#test/support.ts';

const { send, register, happen } = story();

it('a worker whose claim is by now another’s records nothing', async () => {
  const hook = await register();
  await unattempted(hook.id, happen);
  const [late, next] = [await claim(hook.id), await claim(hook.id, 50, Date.now() + leaseMs + 1)];
  const record = async (claimed: typeof late.claimed, status: Recorded['status']) => {
    const outcomes = claimed.map((delivery) => ({ delivery, status }));
    await transaction(db, recordStatements(db, hook.id, outcomes, Date.now()));
    return (await deliveriesOf(hook.id)).map((delivery) => delivery.status);
  };
  expect([late.claimed.length, next.claimed.length]).toEqual([1, 1]);
  expect(await record(late.claimed, 'failed')).toEqual(['pending']);
  expect(await record(next.claimed, 'delivered')).toEqual(['delivered']);
});

it('a worker for accidents claims no events', async () => {
  const hook = await register();
  await unattempted(hook.id, async () => {
    await happen(2);
    await send(accident());
  });
  const request = { webhookId: hook.id, count: 50, now: Date.now(), accidentsOnly: true };
  const { rows } = await transaction(db, claimStatements(db, request));
  expect(rows.map(({ level }) => level)).toEqual([1]);
});
