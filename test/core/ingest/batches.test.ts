import { dayMs } from '#src/core/platform/durations.ts';
import { signIn } from '#test/support/portal.ts';
import { accident, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';

const { us, send, register } = story();
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
const ingest = async (...records: object[]) => (await send(...records)).data;
/** The levels of all deliveries; an event has level 0. */
const notified = async () =>
  (
    await rows('select level from deliveries where account_id = ?1 order by level', us.accountId)
  ).map(({ level }) => level);

describe('a safety event', () => {
  const old = safetyEvent({ sourceId: 'old', startedAt: daysAgo(7.01) });

  it('that began within seven days is sent, an older one is stored, listed and a change', async () => {
    await register();
    const recent = safetyEvent({ startedAt: daysAgo(6.99) });
    expect(await ingest(vehicle(), recent, old)).toMatchObject({
      accepted: 3,
      rejected: [],
      heldBack: 1,
    });
    expect(await notified()).toEqual([0]);
    const { data } = await us.lists.get(`/safety-events?from=${daysAgo(8)}&to=${daysAgo(0)}`);
    expect(data).toMatchObject([{ sourceId: 'old' }, { sourceId: 'event-1' }]);
    const changed = `
      select e.value from changes c, json_each(c.records, '$.safetyEvent') e where c.account_id = ?1`;
    expect(await rows(changed, us.accountId)).toHaveLength(2);
  });

  it.each([
    ['that is new', [old], 1],
    ['twice in a call', [old, old], 1],
    ['of an unknown vehicle', [{ ...old, vehicle: 'nobody’s' }], undefined],
    ['that is recent', [safetyEvent()], undefined],
    ['whose trip is old', [trip({ startedAt: daysAgo(30) })], undefined],
  ])('%s is counted as held back', async (_, records, count) => {
    expect((await ingest(vehicle(), ...records)).heldBack).toBe(count);
  });

  it('is held back once, and never sent after that', async () => {
    await register();
    await ingest(vehicle(), old);
    expect(await ingest(old)).not.toHaveProperty('heldBack');
    const version = { ...old, incidentTypes: ['crash'], startedAt: daysAgo(1) };
    expect(await ingest(version)).toMatchObject({ accepted: 1 });
    expect(await notified()).toEqual([]);
  });

  it('is not held back as history', async () => {
    const { data } = await us.connector.post<object>('/ingest', {
      records: [vehicle(), old],
      notify: false,
    });
    expect(data).not.toHaveProperty('heldBack');
  });

  it('that is held back is counted on the page of its connection', async () => {
    const { get } = await signIn(us);
    const page = async () => (await get(`/portal/connections/${us.connection.id}`)).text();
    expect(await page()).not.toContain('Held back');
    await ingest(vehicle(), old, safetyEvent());
    await ingest(old, safetyEvent({ sourceId: 'older', startedAt: daysAgo(40) }));
    expect(await page()).toContain('2 safety events');
  });
});

describe('an accident', () => {
  const crash = (notificationLevel: number) =>
    accident({ notificationLevel, eventTime: daysAgo(400) });

  it('has each level sent once, at any age, in calls that repeat what came before', async () => {
    await register();
    for (const levels of [[1], [1, 2], [1, 2, 3], [1, 2, 3]])
      expect(await ingest(vehicle(), ...levels.map(crash))).not.toHaveProperty('heldBack');
    expect(await notified()).toEqual([1, 2, 3]);
  });

  it('in history is not sent, but its next level is', async () => {
    await register();
    await us.connector.post('/ingest', { records: [crash(1)], notify: false });
    await ingest(crash(1), crash(2));
    expect(await notified()).toEqual([2]);
  });
});
