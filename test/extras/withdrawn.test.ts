import { env } from 'cloudflare:workers';
import { archive } from '#src/extras/archive/job.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { connectionActivity } from '#src/portal/read/activity.ts';
import {
  ago,
  dayMs,
  deliveriesOf,
  ownRows,
  recordId,
  safetyEvent,
  signIn,
  story,
  value,
  vehicle,
} from '#test/support.ts';

const { us, register } = story();
beforeEach(async () => void (await us.send(vehicle())));

const withdrawn = (more: object = {}) => safetyEvent({ withdrawn: true, ...more });
const list = async (filter = '') =>
  (await us.lists.get(`/safety-events?from=2026-01-01&to=${new Date().toISOString()}${filter}`))
    .data;

describe('an event that its provider withdraws', () => {
  it('says so where somebody looks for who was notified, and is marked or left out in the portal', async () => {
    await register();
    await us.send(withdrawn());
    const { textAt, page } = await signIn(us);
    const id = recordId(us.connection.id, 'safetyEvent', 'event-1');
    const event = await textAt(`/portal/events/${id}`);
    expect(event).toContain('the provider has withdrawn the event');
    const [arrived] = (await page('/portal')).textAt('section[aria-labelledby=latest-arrivals]');
    expect(arrived).toMatch(/Withdrawn.*Harsh Braking/);
  });

  it('is no activity of its connection', async () => {
    await us.send(withdrawn());
    const caller = { accountId: us.accountId, operator: true } as const;
    const activity = await connectionActivity(env, caller, { limit: 1 });
    expect(activity.get(us.connection.id)).toMatchObject({ events: 0 });
  });

  it('once archived stays there, marked, and its day keeps its counts', async () => {
    const hook = await register();
    const startedAt = ago(40 * dayMs);
    await us.send(safetyEvent({ startedAt }));
    await countEvents(env);
    await archive(env);
    const counts = () => ownRows(us, 'event_counts');
    const before = await counts();
    expect(before).toHaveLength(2);
    expect((await us.send(withdrawn({ startedAt }))).data).toMatchObject({ accepted: 1 });
    for (const settle of [async () => {}, () => countEvents(env), () => archive(env)]) {
      await settle();
      for (const filter of ['', '&withdrawn=true']) expect(await list(filter)).toHaveLength(1);
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
