import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase, statement, transaction } from '../../src/db/database.ts';
import { newId } from '../../src/db/ids.ts';
import { accountActivity, webhookActivity } from '../../src/deliveries/activity.ts';
import { countEndings } from '../../src/deliveries/counts.ts';
import { prune as pruneDeliveries } from '../../src/deliveries/prune.ts';
import { deliveriesOf, settled } from '../support/deliveries.ts';
import { metered } from '../support/meter.ts';
import { rows } from '../support/rows.ts';
import { story } from '../support/story.ts';

const tale = story();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("the portal's chart", () => {
  const caller = () => ({ accountId: tale.us.accountId, operator: true }) as const;

  it('shows what was delivered and what failed, in the hour in which it ended', async () => {
    tale.heard.answers(({ url }) => new Response('', { status: url.endsWith('gone') ? 410 : 200 }));
    const [fine, gone] = [
      await tale.register(),
      await tale.register({ url: 'https://receiver.example.com/gone' }),
    ];
    await tale.happen(3);
    await settled(fine.id, 3);
    await settled(gone.id, 3);
    const all = (await accountActivity(env, caller())).hours;
    expect(all).toHaveLength(24);
    expect(all.at(-1)).toEqual({ delivered: 3, failed: 3 });
    expect(all.slice(0, -1).every(({ delivered, failed }) => delivered + failed === 0)).toBe(true);
    const { hours } = await webhookActivity(env, caller(), { webhookId: gone.id, limit: 1 });
    expect(hours.at(-1)).toEqual({ delivered: 0, failed: 3 });
  });

  it('forgets an hour when it comes again a day later', async () => {
    const hook = await tale.register();
    await tale.happen(1);
    await settled(hook.id);
    await rows('update webhook_hours set hour = hour - 24 where webhook_id = ?1', hook.id);
    expect((await accountActivity(env, caller())).hours.at(-1)).toEqual({ delivered: 0, failed: 0 });
    await tale.happen(2, 'later');
    await settled(hook.id, 3);
    expect((await accountActivity(env, caller())).hours.at(-1)).toEqual({ delivered: 2, failed: 0 });
  });

  it('counts a batch that is recorded twice once', async () => {
    const hook = await tale.register();
    const id = newId();
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, claimed_until)
       values (?1, ?2, ?3, 'e', 0, 'pending', 0, 5)`,
      hook.id,
      id,
      tale.us.accountId,
    );
    const db = openDatabase(env);
    const recording = [
      countEndings(
        db,
        hook.id,
        [{ id, claimedUntil: 5, status: 'delivered' }],
        { delivered: 3, failed: 1 }, // of earlier records
        Date.now(),
      ),
      statement(db, sql`update deliveries set status = 'delivered', claimed_until = 0 where id = ${id}`),
    ] as const;
    await transaction(db, recording);
    await transaction(db, recording);
    expect((await accountActivity(env, caller())).hours.at(-1)).toEqual({ delivered: 4, failed: 1 });
  });

  it('counts what a lane delivers in several records, to the last', async () => {
    const hook = await tale.register();
    tale.heard.answers(async () => {
      await scheduler.wait(60);
      return new Response('ok');
    });
    await tale.happen(37);
    await settled(hook.id, 37);
    await vi.waitFor(async () =>
      expect((await accountActivity(env, caller())).hours.at(-1)).toEqual({ delivered: 37, failed: 0 }),
    );
  });

  it('reads no more for more deliveries', async () => {
    const hook = await tale.register();
    const fill = env.DB.prepare(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
       insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       select ?1, substr(?2, 1, 24) || printf('%012x', i), ?3, 'e' || i, 0, 'delivered', 0 from n`,
    );
    await fill.bind(hook.id, newId(), tale.us.accountId).run();
    await rows(
      `with recursive n (i) as (select 0 union all select i + 1 from n where i < 23)
       insert into webhook_hours (webhook_id, slot, hour, delivered, failed) select ?1, (?2 - i) % 24, ?2 - i, 40000, 7 from n where true
       on conflict do nothing`,
      hook.id,
      Math.floor(Date.now() / hourMs),
    );
    const { env: bindings, cost } = metered();
    const { hours } = await accountActivity(bindings, caller());
    expect(hours.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(24 * 40_000);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    expect(cost.read).toBeLessThanOrEqual(250);
    await pruneDeliveries(env, Date.now() + 31 * dayMs);
    expect(await deliveriesOf(hook.id)).toEqual([]);
  });
});
