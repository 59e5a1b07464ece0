import { env } from 'cloudflare:workers';
import { minHotDays } from '#src/core/platform/vars.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import { archive } from '#src/extras/archive/job.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import {
  ago,
  attempted,
  call,
  dayMs,
  makeDue,
  minute,
  operator,
  ownRows,
  safetyEvent,
  story,
  vehicle,
} from '#test/support.ts';

const { us, heard, send, register, happen } = story();
const daysAgo = (days: number) => ago(days * dayMs);
const ingest = async (...records: object[]) => (await send(...records)).data;
/** The levels of all deliveries; an event has level 0. */
const notified = async () => (await ownRows(us, 'deliveries')).map(({ level }) => level);

describe('a safety event', () => {
  it('that is archived notifies nobody when it is sent again', async () => {
    await register();
    const archived = safetyEvent({ startedAt: daysAgo(182) });
    await ingest(vehicle(), archived);
    await archive(env);
    expect(await ownRows(us, 'safety_events')).toEqual([]);
    await ingest({
      ...archived,
      sourceUpdatedAt: new Date().toISOString(),
      incidentTypes: ['crash'],
    });
    expect(await notified()).toEqual([]);
    const { data } = await us.lists.get(`/safety-events?from=${daysAgo(183)}&to=${daysAgo(0)}`);
    expect(data).toMatchObject([{ incidentTypes: ['crash'] }]);
  });

  it('that may still be news is in D1, with as few hot days as can be', async () => {
    expect(minHotDays * dayMs).toBeGreaterThanOrEqual(newsMs);
    await register();
    const bindings = { ...env, HOT_DAYS: String(minHotDays) as '30' };
    const headers = { 'x-api-key': us.connection.ingestKey };
    const again = () =>
      call('POST', '/ingest', {
        headers,
        body: { records: [vehicle(), safetyEvent({ startedAt: daysAgo(6.99) })] },
        bindings,
      });
    await again();
    await archive(bindings);
    await again();
    expect(await notified()).toEqual([0]);
  });
});

describe('a delivery', () => {
  it('has the payload and the request of its event, also once that is in the archive', async () => {
    heard.returns(500);
    const hook = await register();
    const { headers } = await happen();
    const { id } = await attempted(hook.id);
    const expectRequest = async () =>
      expect((await operator.get(`/operator/deliveries/${id}`)).data).toMatchObject({
        requestId: headers.get('x-request-id'),
      });
    await expectRequest();
    await countEvents(env); // a day is counted before it is archived
    await archive(env, Date.now() + 40 * dayMs);
    expect(await ownRows(us, 'safety_events')).toEqual([]);
    await expectRequest();
    await makeDue(hook.id);
    await minute();
    await attempted(hook.id, 2);
    const [first, second] = heard.got;
    expect(second?.body.data).toEqual(first?.body.data);
  });
});
