import { addRow, value } from '#test/support/rows.ts';
import { register } from '#test/support/world.ts';
import { rowsOf } from './account-rows.ts';
import { added } from './added.ts';
import { settled } from './deliveries.ts';
import { receiver } from './receiver.ts';
import { accident, driver, exampleRecords, later, safetyEvent, trip, vehicle } from './records.ts';
import { operator, type World, world } from './world.ts';

/** An account with something in every table, and whatever else extras have of one. */
export async function fullAccount(): Promise<World> {
  receiver();
  const us = await world('motive', 'samsara');
  const webhook = await register(us);
  for (const { send } of us.connections)
    await send(
      vehicle({ odometerKm: 0.1 + 0.2 }),
      driver({ email: 'ann@example.com' }),
      trip({ driver: 'driver-1', distanceKm: 1 / 3 }),
      safetyEvent({ driver: 'driver-1' }),
      accident(),
      // Tests count the others.
      ...exampleRecords.filter(({ kind }) => !['vehicle', 'driver', 'trip'].includes(kind)),
    );
  await settled(webhook.id, 4);
  const email = `p-${us.accountId}@example.com`;
  const users = `/operator/accounts/${us.accountId}/users`;
  const { id: person } = (await operator.post<{ id: string }>(users, { email })).data;
  const usual = {
    account_id: us.accountId,
    connection_id: us.connection.id,
    webhook_id: webhook.id,
    user_id: person,
    recipient_id: person,
    accident_id: await value('select id from accidents where account_id = ?1', us.accountId),
  };
  // Deliveries of webhooks that are gone are the account's as well, and so is one that failed.
  const gone = { webhook_id: `gone-${us.accountId}`, status: 'failed', next_attempt_at: 1 };
  await addRow('deliveries', gone, { usual });
  for (const { fill } of added) await fill?.(us, usual);
  const contents = contentsOf(us);
  for (const [table, found] of Object.entries(await rowsOf(us.accountId)))
    if (found.length === 0 && !underWay.includes(table))
      await addRow(table, contents[table] ?? {}, { usual });
  return us;
}

const underWay = ['deletions', ...added.flatMap((one) => one.underWay ?? [])];

/** What rows hold where it matters, by their table: none of them is to be pruned or worked on. */
const contentsOf = (us: World): Record<string, Record<string, unknown>> => ({
  sessions: { hash: `session-${us.accountId}`, expires_at: later },
  sign_in_links: { hash: `link-${us.accountId}`, expires_at: later },
  invitations: { sent_at: later },
  fan_outs: { type: 2, id: `ffffffff-${us.accountId}`, expanded_to: '~', created_at: later },
  ...Object.assign({}, ...added.map(({ contents }) => contents?.(us))),
});
