import { transaction } from '#src/core/platform/db/database.ts';
import type { ReceiverState } from '#src/core/webhooks/deliveries/receiver/next.ts';
import { asState, readState, writeState } from '#src/core/webhooks/deliveries/receiver/store.ts';
import { db, story } from '#test/support.ts';

const { us, register } = story();
const stateOf = async (id: string) => (await transaction(db, readState(db, id)))[0]?.state ?? '';
const failedAgain = (stored: string): ReceiverState => {
  const state = asState(stored);
  const lastFailure = { result: 'status', status: 503, reason: 'a "reason"' } as const;
  return {
    ...state,
    failures: state.failures + 1,
    window: 2,
    timerAt: 9,
    pausedSince: 8,
    lastFailure,
  };
};

const write = (id: string, before: string) =>
  transaction(db, writeState(db, id, before, failedAgain(before)));

it('the state of a receiver is stored once, and only if it is as it was read', async () => {
  const { id } = await register();
  const before = await stateOf(id);
  const store = async () => (await write(id, before)).meta.changes;
  expect([await store(), await store()]).toEqual([1, 0]);
  const stored = await stateOf(id);
  expect(stored).toBe(JSON.stringify(failedAgain(before)));
  await write(id, stored);
  expect(asState(await stateOf(id))).toMatchObject({ failures: 2 });
});

it('a deleted webhook has no state', async () => {
  const { id } = await register();
  const before = await stateOf(id);
  await us.api.delete(`/webhook/${id}`);
  const { meta } = await write(id, before);
  expect([meta.changes, await stateOf(id)]).toEqual([0, before && '']);
});
