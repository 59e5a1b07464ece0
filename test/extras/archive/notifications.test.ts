import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
import { minHotDays } from '#src/core/platform/vars.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import { archive } from '#src/extras/archive/job.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { attempted, makeDue } from '#test/support/deliveries.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { minute } from '#test/support/service.ts';
import { story } from '#test/support/story.ts';
import { call, operator } from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
const ingest = async (...records: object[]) => (await send(...records)).data;
/** The levels of all deliveries; an event has level 0. */
const notified = async () =>
  (
    await rows('select level from deliveries where account_id = ?1 order by level', us.accountId)
  ).map(({ level }) => level);

describe('a safety event', () => {
  it('that is archived notifies nobody when it is sent again', async () => {
    await register();
    const archived = safetyEvent({ startedAt: daysAgo(182) });
    await ingest(vehicle(), archived);
    await archive(env);
    const own = 'select 1 from safety_events where account_id = ?1';
    expect(await rows(own, us.accountId)).toEqual([]);
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
  it('has the same payload and request once its event is in the archive', async () => {
    heard.returns(500);
    const hook = await register();
    await happen();
    const { id } = await attempted(hook.id);
    const requestOf = async () =>
      (await operator.get<{ requestId: string }>(`/operator/deliveries/${id}`)).data;
    const { requestId } = await requestOf();
    expect(requestId).toEqual(expect.any(String));
    await countEvents(env); // a day is counted before it is archived
    await archive(env, Date.now() + 40 * dayMs);
    expect(await rows('select 1 from safety_events where account_id = ?1', us.accountId)).toEqual(
      [],
    );
    expect(await requestOf()).toMatchObject({ requestId });
    await makeDue(hook.id);
    await minute();
    await attempted(hook.id, 2);
    const [first, second] = heard.got;
    expect(second?.body.data).toEqual(first?.body.data);
  });
});
