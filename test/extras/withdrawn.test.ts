import { env } from 'cloudflare:workers';
import { recordId } from '#src/core/platform/db/ids.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { archive } from '#src/extras/archive/job.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { connectionActivity } from '#src/portal/read/activity.ts';
import { deliveriesOf } from '#test/support/deliveries.ts';
import { signIn } from '#test/support/portal.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';

const { us, register } = story();
beforeEach(async () => void (await us.send(vehicle())));

const withdrawn = (more: object = {}) => safetyEvent({ withdrawn: true, ...more });
const list = async (filter = '') =>
  (await us.lists.get(`/safety-events?from=2026-01-01&to=${new Date().toISOString()}${filter}`))
    .data;

describe('an event that its provider withdraws', () => {
  it('is a change, marked', async () => {
    await us.send(safetyEvent());
    await us.send(withdrawn());
    const id = recordId(us.connection.id, 'safetyEvent', 'event-1');
    const { data } = await us.api.get<unknown[]>('/changes?kinds=safetyEvent');
    expect(data).toContainEqual(
      expect.objectContaining({
        id,
        action: 'changed',
        data: expect.objectContaining({ withdrawn: true }),
      }),
    );
  });

  it('says so where somebody looks for who was notified, and is marked or left out in the portal', async () => {
    await register();
    await us.send(withdrawn());
    const ann = await signIn(us);
    const id = recordId(us.connection.id, 'safetyEvent', 'event-1');
    expect(await ann.textAt(`/portal/events/${id}`)).toContain(
      'the provider has withdrawn the event',
    );
    expect(
      (await ann.page('/portal')).textAt('section[aria-labelledby=latest-arrivals]')[0],
    ).toMatch(/Withdrawn.*Harsh Braking/);
  });

  it('is no activity of its connection', async () => {
    await us.send(withdrawn());
    const caller = { accountId: us.accountId, operator: true } as const;
    const activity = await connectionActivity(env, caller, { limit: 1 });
    expect(activity.get(us.connection.id)).toMatchObject({ events: 0 });
  });

  it('once archived stays there, marked, and its day keeps its counts', async () => {
    const hook = await register();
    const startedAt = new Date(Date.now() - 40 * dayMs).toISOString();
    await us.send(safetyEvent({ startedAt }));
    await countEvents(env);
    await archive(env);
    const counts = () => rows('select * from event_counts where account_id = ?1', us.accountId);
    const before = await counts();
    expect(before).toHaveLength(2);
    expect((await us.send(withdrawn({ startedAt }))).data).toEqual({
      accepted: 1,
      unchanged: 0,
      rejected: [],
    });
    for (const settle of [async () => {}, () => countEvents(env), () => archive(env)]) {
      await settle();
      expect(await list('&withdrawn=true')).toHaveLength(1);
      expect(await list()).toHaveLength(1);
      expect(await counts()).toEqual(before);
    }
    expect(await deliveriesOf(hook.id)).toEqual([]);
  });

  it('is not counted', async () => {
    const counted = async () => {
      await countEvents(env);
      return value(
        'select sum(risk_3) from event_counts where account_id = ?1 and hours = 24',
        us.accountId,
      );
    };
    await us.send(safetyEvent(), safetyEvent({ sourceId: 'other' }));
    expect(await counted()).toBe(2);
    await us.send(withdrawn());
    expect(await counted()).toBe(1);
  });
});
