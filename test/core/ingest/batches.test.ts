import {
  accident,
  ago,
  dayMs,
  ownRows,
  rows,
  safetyEvent,
  signIn,
  story,
  trip,
  vehicle,
} from '#test/support.ts';

const { us, send, register } = story();
const daysAgo = (days: number) => ago(days * dayMs);
const ingest = async (...records: object[]) => (await send(...records)).data;
/** The levels of all deliveries; an event has level 0. */
const notified = async () => (await ownRows(us, 'deliveries')).map(({ level }) => level).sort();

describe('a safety event', () => {
  const old = safetyEvent({ sourceId: 'old', startedAt: daysAgo(7.01) });

  it('that began within seven days is sent, an older one is stored, listed and a change', async () => {
    await register();
    const recent = safetyEvent({ startedAt: daysAgo(6.99) });
    const taken = await ingest(vehicle(), recent, old);
    expect(taken).toMatchObject({ accepted: 3, rejected: [], heldBack: 1 });
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

  it('that is loaded as history is neither held back nor sent, even if it is sent again', async () => {
    await register();
    const records = [vehicle(), old, safetyEvent()];
    const { data } = await us.connector.post<object>('/ingest', { records, notify: false });
    expect(data).not.toHaveProperty('heldBack');
    await ingest(safetyEvent());
    expect(await notified()).toEqual([]);
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

it('an accident in history is not sent, but its next level is, at any age', async () => {
  const crash = (notificationLevel: number) =>
    accident({ notificationLevel, eventTime: daysAgo(400) });
  await register();
  await us.connector.post('/ingest', { records: [crash(1)], notify: false });
  expect(await ingest(crash(1), crash(2))).not.toHaveProperty('heldBack');
  expect(await notified()).toEqual([2]);
});
