import {
  deliveriesOf,
  makeDue,
  safetyEvent,
  settled,
  story,
  unattempted,
  vehicle,
  type WebhookOut,
} from '#test/support.ts';

const { us, heard, register, work } = story();
let hook: WebhookOut;
beforeEach(async () => {
  hook = await register();
  await us.send(vehicle());
});

const withdrawn = (more: object = {}) => safetyEvent({ withdrawn: true, ...more });
const list = async (filter = '') =>
  (await us.lists.get(`/safety-events?from=2026-01-01&to=${new Date().toISOString()}${filter}`))
    .data;

describe('an event that its provider withdraws', () => {
  it('stays in the list, marked, and a newer version brings it back', async () => {
    await us.send(safetyEvent(), safetyEvent({ sourceId: 'other' }));
    await us.send(withdrawn());
    expect(await list('&withdrawn=true')).toMatchObject([{ withdrawn: true }]);
    expect(await list('&withdrawn=false')).toHaveLength(1);
    await us.send(safetyEvent());
    expect(await list('&withdrawn=false')).toHaveLength(2);
    await settled(hook.id, 2);
    expect(await deliveriesOf(hook.id)).toHaveLength(2);
  });

  it.each([
    ['', {}],
    [', also if the same version changes it', { incidentTypes: ['crash'] }],
  ])('is not sent any more, where its delivery still waits%s', async (_, more) => {
    await unattempted(hook.id, () => us.send(safetyEvent()));
    await us.send(withdrawn(more));
    await makeDue(hook.id);
    await work(hook.id);
    expect(await settled(hook.id)).toMatchObject([{ status: 'cancelled' }]);
    expect(heard.got).toEqual([]);
  });

  it('notifies nobody if it comes in withdrawn, nor when it is brought back', async () => {
    expect((await us.send(withdrawn())).data).toEqual({ accepted: 1, unchanged: 0, rejected: [] });
    await us.send(safetyEvent());
    expect(await deliveriesOf(hook.id)).toEqual([]);
  });
});
