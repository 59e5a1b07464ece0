import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { listConnections, maxConnectionsListed } from '#src/core/fleet/connections.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { maxFound, webhookActivity } from '#src/extras/delivery-log/activity.ts';
import { deliveriesOf, maxOfEvent } from '#src/extras/delivery-log/find.ts';
import { keepRefusals, refusalsKept } from '#src/extras/providers/store.ts';
import { matchFleet } from '#src/extras/search/search.ts';
import { maxNamed, maxPerHour, recountLive } from '#src/extras/trends/recount.ts';
import { createSignInLinks, maxLinks } from '#src/people/sessions.ts';
import { aroundMs, maxAround } from '#src/portal/accidents/course.tsx';
import { pageSize } from '#src/portal/connections/connections.tsx';
import {
  connectionActivity,
  connectionRecords,
  eventsLookedAt,
  maxCountedInList,
  maxRecordsCounted,
} from '#src/portal/read/activity.ts';
import { maxMatches } from '#src/ui/added.ts';
import { maxCsvRecords } from '#src/ui/lists/list.tsx';
import { maxWebhooks } from '#src/ui/read/attention.ts';
import { personBefore } from '#test/support/portal.ts';
import { connect } from '#test/support/provider.ts';
import { samsara, samsaraToken } from '#test/support/providers/samsara.ts';
import { receiver } from '#test/support/receiver.ts';
import { addRows, addWebhooks, rows } from '#test/support/rows.ts';
import { operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
const { post, html: page } = personBefore(beforeEach, us);
let mine: { account_id: string; connection_id: string; created_at: number; updated_at: number };
beforeEach(() => {
  mine = {
    account_id: us.accountId,
    connection_id: us.connection.id,
    created_at: 0,
    updated_at: 0,
  };
});

const [minuteMs, hourMs] = [60_000, 3_600_000];
const caller = () => operatorIn(us.accountId);
const addEvents = (count: number, changes: (i: number) => object = () => ({})) => {
  const latest = Date.now() - 1000; // of all: time passes while the rows are made
  return addRows('safety_events', count, (i) => ({
    ...mine,
    source_id: newId(),
    started_at: latest - i,
    event_risk: 1,
    ...changes(i),
  }));
};
const addVehicles = (count: number, name = 'Truck') =>
  addRows('vehicles', count, () => ({ ...mine, name, status: 'active' }));
const addConnections = (count: number) =>
  addRows('connections', count, () => ({ account_id: us.accountId, provider: 'motive' }));
describe('of more than fit, pages show', () => {
  it('25 connections, and a link to the others; pickers have 1,000', async () => {
    await addConnections(maxConnectionsListed);
    const html = await page('/portal/connections');
    expect(html.match(/class="tile"/g)).toHaveLength(pageSize);
    expect(html).toContain('/portal/connections?cursor=');
    expect(await listConnections(env, caller())).toHaveLength(maxConnectionsListed);
  });

  it('1,000 vehicles and events of a connection, and 10,000 records on its page', async () => {
    const counts = async () =>
      (await connectionActivity(env, caller(), { limit: 1 })).get(us.connection.id);
    const fewer = maxCountedInList - 1;
    await addVehicles(fewer);
    await addEvents(fewer);
    expect(await counts()).toMatchObject({
      vehicles: fewer,
      events: fewer,
      byHour: expect.anything(),
    });
    await addVehicles(maxRecordsCounted);
    await addEvents(2);
    const most = maxCountedInList; // shown as 1,000+
    expect(await counts()).toMatchObject({ vehicles: most, events: most, byHour: undefined });
    const records = await connectionRecords(env, caller(), us.connection.id);
    expect(records.find(({ kind }) => kind === 'vehicles')?.count).toBe(maxRecordsCounted);
  });

  it('the latest 100 refused records, and as many accepted with warnings', async () => {
    samsara(receiver());
    const id = await connect(us, 'samsara', samsaraToken);
    const refusal = (_: unknown, i: number) => ({ kind: 'trip', sourceId: `t${i}`, reason: 'No' });
    const refused = Array.from({ length: refusalsKept + 1 }, refusal);
    const claimed = { connectionId: id } as Parameters<typeof keepRefusals>[1]; // all that this needs of it
    await keepRefusals(env, claimed, refused.slice(0, 1), 1);
    await keepRefusals(env, claimed, refused.slice(1), 2);
    const accepted = refused.map((one) => ({ ...one, kind: 'vehicle', accepted: true as const }));
    await keepRefusals(env, claimed, accepted, 3);
    const html = await page(`/portal/connections/${id}`);
    expect(html.match(/>t\d+</g)).toHaveLength(2 * refusalsKept);
    expect(html).not.toContain('>t0<');
  });

  it('labels without an incident type of the latest 1,000 events', async () => {
    const unmapped = (label: string) => ({ incident_types: `["${label}"]` });
    await addEvents(eventsLookedAt + 1, (i) => unmapped(i < eventsLookedAt ? 'Unheard' : 'Older'));
    const html = await page(`/portal/connections/${mine.connection_id}`);
    expect(html).toContain('>Unheard<');
    expect(html).not.toContain('>Older<');
  });

  it('what 100 vehicles and 100 drivers did whose name is looked for', async () => {
    await addVehicles(maxMatches + 1, 'Robin');
    await addRows('drivers', maxMatches + 1, () => ({ ...mine, name: 'Robin', status: 1 }));
    const { vehicles, drivers } = await matchFleet(env, caller(), {
      vehicle: 'robin',
      driver: 'robin',
    });
    expect([vehicles?.length, drivers?.length]).toEqual([maxMatches, maxMatches]);
  });

  it('problems of the oldest 200 webhooks', async () => {
    const ids = await addWebhooks(us.accountId, maxWebhooks + 1);
    const overviewAfter = async (failing: string | undefined) => {
      await addRows('webhook_health', 1, () => ({ webhook_id: failing, failures: 9, openings: 1 }));
      return page('/portal');
    };
    expect(await overviewAfter(ids[maxWebhooks])).not.toContain('is paused after');
    expect(await overviewAfter(ids[maxWebhooks - 1])).toContain('is paused after');
  });

  it('events of a vehicle around an accident: 100, of 6 hours', async () => {
    const [vehicle_id, at] = [newId(), Date.now() - 12 * hourMs];
    const addAround = (times: number[]) =>
      addEvents(times.length, (i) => ({ vehicle_id, started_at: times[i] }));
    const course = {
      event_time: at,
      location: '{"latitude":1,"longitude":1}',
      notification_level: 1,
      notified: 1,
    };
    await addRows('accidents', 1, () => ({ ...mine, ...course, id: vehicle_id, vehicle_id }));
    const shown = async () =>
      (await page(`/portal/accidents/${vehicle_id}`)).match(/href="\/portal\/events\/[^"]*"/g)
        ?.length;
    await addAround([-aroundMs - 1, -aroundMs, aroundMs, aroundMs + 1].map((ms) => at + ms));
    expect(await shown()).toBe(2);
    await addAround(Array.from({ length: maxAround }, (_, i) => at + i));
    expect(await shown()).toBe(maxAround);
  });

  it('300 deliveries of an event, and 60 that a search finds', async () => {
    const [event_id, created_at] = [newId(), Date.now() - minuteMs];
    const { account_id, connection_id } = mine;
    const notification = { account_id, connection_id, event_id, type: 2, data: '{}', created_at };
    await addRows('notifications', 1, () => notification);
    const ids = await addWebhooks(us.accountId, maxOfEvent + 1);
    const delivery = {
      id: newId(created_at),
      account_id,
      event_id,
      status: 'delivered',
      log: '[]',
    };
    await addRows('deliveries', ids.length, (i) => ({ ...delivery, webhook_id: ids[i] }));
    const { deliveries, complete } = await deliveriesOf(env, caller(), event_id);
    expect([deliveries.length, complete]).toEqual([maxOfEvent, false]);
    const [webhook_id = ''] = ids;
    await addRows('deliveries', maxFound, () => ({
      ...delivery,
      id: newId(created_at),
      webhook_id,
    }));
    const { part } = await webhookActivity(env, caller(), webhook_id, {
      limit: 1,
      search: event_id,
    });
    expect(part.deliveries).toHaveLength(maxFound);
  });

  it('10,000 events of an hour, and 100 vehicles and drivers of a day', async () => {
    const { account_id } = mine;
    const other = newId();
    await addRows('connections', 1, () => ({ id: other, account_id, provider: 'motive' }));
    const hour = Math.floor(Date.now() / hourMs) * hourMs;
    await addEvents(maxPerHour + 1, (i) => ({
      ...(i % 2 && { connection_id: other }),
      started_at: hour,
      issued_on: hour,
      translated_incident_types: '["Crash"]',
      event_risk: 5,
      vehicle_id: `v${i % (maxNamed + 1)}`,
      driver_id: `d${i % (maxNamed + 1)}`,
    }));
    const db = openDatabase(env);
    await transaction(db, [...recountLive(db, us.accountId)]);
    const counted = await rows(
      `select risk_5 as events, (select count(*) from json_each(vehicles)) as vehicles,
         (select count(*) from json_each(drivers)) as drivers
       from event_counts where account_id = ?1 and hours = 24`,
      us.accountId,
    );
    expect(counted).toEqual([{ events: maxPerHour, vehicles: maxNamed, drivers: maxNamed }]);
  });

  it('100,000 events in a CSV file, whose last line says so', async () => {
    await addEvents(maxCsvRecords + 1);
    const csv = await page(`/portal/events.csv?connection=${us.connection.id}`);
    const lines = csv.trimEnd().split('\n');
    expect(lines).toHaveLength(1 + maxCsvRecords + 1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.at(-1)).toContain('Choose a shorter period');
  });
});

it('an email has links to 20 accounts, the newest of those that wait for its address', async () => {
  const email = 'invited-often@example.com';
  const names = Array.from({ length: maxLinks + 1 }, (_, at) => `Account ${at}`);
  for (const name of names) {
    const { data } = await operator.post<{ id: string }>('/operator/accounts', { name });
    await operator.post(`/operator/accounts/${data.id}/users`, { email });
  }
  const links = await createSignInLinks(env, email);
  expect(links.map(({ account }) => account)).toEqual(names.slice(1).reverse());
});

it.each([
  ['a name of a webhook', 60, '/portal/webhooks/new', 'name'],
  ['its description', 200, '/portal/webhooks/new', 'description'],
  ['a name of a token', 200, '/portal/settings/tokens', 'name'],
  ['a name of a provider', 200, '/portal/connections/own', 'provider'],
  ['an address', 320, '/portal/settings/people', 'email'],
  ['a credential', 4000, '/portal/connections/new?provider=samsara', 'credential'],
])('a form refuses %s of more than %d characters', async (_, limit, path, field) => {
  receiver();
  const others = {
    url: 'https://receiver.example.com/',
    httpVerb: 'POST',
    notificationTypes: '1',
    expires: '',
  };
  const end = field === 'email' ? '@b.com' : '';
  const sent = async (characters: number) => {
    const fields = { ...others, [field]: end.padStart(characters, 'a') };
    return (await post(path, fields)).text();
  };
  const message = `can be at most ${limit.toLocaleString('en')} characters`;
  expect(await sent(limit)).not.toContain(message);
  expect(await sent(limit + 1)).toContain(message);
});
