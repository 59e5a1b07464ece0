import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { listConnections, maxConnectionsListed } from '#src/core/fleet/connections.ts';
import { eventsLookedAt } from '#src/core/fleet/incidents/unmapped.ts';
import { keepRefusals, refusalsKept } from '#src/extras/providers/store.ts';
import { matchFleet } from '#src/extras/search/search.ts';
import { maxNamed, maxPerHour } from '#src/extras/trends/recount.ts';
import { createSignInLinks, maxLinks } from '#src/people/sessions.ts';
import { aroundMs, maxAround } from '#src/portal/accidents/course.tsx';
import { pageSize } from '#src/portal/connections/connections.tsx';
import {
  connectionActivity,
  connectionRecords,
  maxCountedInList,
  maxRecordsCounted,
} from '#src/portal/read/activity.ts';
import { maxMatches } from '#src/ui/added.ts';
import { maxCsvRecords } from '#src/ui/lists/list.tsx';
import { maxWebhooks } from '#src/ui/read/attention.ts';
import { samsara, samsaraToken } from '#test/extras/providers/fleets/samsara.ts';
import { connect } from '#test/extras/providers/support.ts';
import {
  addConnection,
  addRow,
  addRows,
  addWebhooks,
  hourMs,
  newId,
  operator,
  personBefore,
  receiver,
  rows,
  times,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const { post, html: page } = personBefore(beforeEach, us);
const mine = () => ({ account_id: us.accountId, connection_id: us.connection.id });
const caller = () => operatorIn(us.accountId);
const addEvents = (count: number, changes: (i: number) => object = () => ({})) => {
  const latest = Date.now() - 1000; // of all: time passes while the rows are made
  return addRows('safety_events', count, (i) => ({
    ...mine(),
    started_at: latest - i,
    event_risk: 1,
    ...changes(i),
  }));
};
const addVehicles = (count: number, name = 'Truck') =>
  addRows('vehicles', count, () => ({ ...mine(), name, status: 'active' }));

describe('of more than fit, pages show', () => {
  it('25 connections, and a link to the others; pickers have 1,000', async () => {
    const own = { account_id: us.accountId, provider: 'motive' };
    await addRows('connections', maxConnectionsListed, () => own);
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
    const counted = { vehicles: fewer, events: fewer, byHour: expect.anything() };
    expect(await counts()).toMatchObject(counted);
    await addVehicles(maxRecordsCounted);
    await addEvents(2);
    const most = maxCountedInList; // shown as 1,000+
    expect(await counts()).toMatchObject({ vehicles: most, events: most, byHour: undefined });
    const { records } = await connectionRecords(env, caller(), us.connection.id);
    expect(records.find(({ kind }) => kind === 'vehicles')?.count).toBe(maxRecordsCounted);
  });

  it('the latest 100 refused records, and as many accepted with warnings', async () => {
    samsara(receiver());
    const id = await connect(us, 'samsara', samsaraToken);
    const claimed = { connectionId: id } as Parameters<typeof keepRefusals>[1]; // all that this needs of it
    const some = times(refusalsKept + 1, (i) => `t${i}`);
    const refused = some.map((sourceId) => ({ kind: 'trip', sourceId, reason: 'No' }));
    const accepted = refused.map((one) => ({ ...one, kind: 'vehicle', accepted: true as const }));
    for (const [at, kept] of [refused.slice(0, 1), refused.slice(1), accepted].entries())
      await keepRefusals(env, claimed, kept, at);
    const html = await page(`/portal/connections/${id}`);
    expect(html.match(/>t\d+</g)).toHaveLength(2 * refusalsKept);
    expect(html).not.toContain('>t0<');
  });

  it('labels without an incident type of the latest 1,000 events', async () => {
    await addEvents(eventsLookedAt + 1, (i) => ({
      incident_types: i < eventsLookedAt ? '["Unheard"]' : '["Older"]',
    }));
    const html = await page(`/portal/connections/${us.connection.id}`);
    expect(html).toContain('>Unheard<');
    expect(html).not.toContain('>Older<');
  });

  it('what 100 vehicles and 100 drivers did whose name is looked for', async () => {
    await addVehicles(maxMatches + 1, 'Robin');
    await addRows('drivers', maxMatches + 1, () => ({ ...mine(), name: 'Robin', status: 1 }));
    const found = await matchFleet(env, caller(), { vehicle: 'robin', driver: 'robin' });
    expect(found.vehicles).toHaveLength(maxMatches);
    expect(found.drivers).toHaveLength(maxMatches);
  });

  it('problems of the oldest 200 webhooks', async () => {
    const ids = await addWebhooks(us.accountId, maxWebhooks + 1);
    const overviewAfter = async (failing: string | undefined) => {
      await addRow('webhook_health', { webhook_id: failing, failures: 9, openings: 1 });
      return page('/portal');
    };
    expect(await overviewAfter(ids[maxWebhooks])).not.toContain('is paused after');
    expect(await overviewAfter(ids[maxWebhooks - 1])).toContain('is paused after');
  });

  it('events of a vehicle around an accident: 100, of 6 hours', async () => {
    const [vehicle_id, at] = [newId(), Date.now() - 12 * hourMs];
    const addAround = (times: number[]) =>
      addEvents(times.length, (i) => ({ vehicle_id, started_at: times[i] }));
    const course = { event_time: at, location: '{"latitude":1,"longitude":1}', notified: 1 };
    const of = { id: vehicle_id, vehicle_id, notification_level: 1 };
    await addRow('accidents', { ...mine(), ...course, ...of });
    const shown = async () =>
      (await page(`/portal/accidents/${vehicle_id}`)).match(/href="\/portal\/events\/[^"]*"/g)
        ?.length;
    await addAround([-aroundMs - 1, -aroundMs, aroundMs, aroundMs + 1].map((ms) => at + ms));
    expect(await shown()).toBe(2);
    await addAround(times(maxAround, (i) => at + i));
    expect(await shown()).toBe(maxAround);
  });

  it('10,000 events of an hour, and 100 vehicles and drivers of a day', async () => {
    const { id: other } = await addConnection(us.accountId);
    const hour = Math.floor(Date.now() / hourMs) * hourMs;
    await addEvents(maxPerHour + 1, (i) => ({
      ...(i % 2 && { connection_id: other }),
      started_at: hour,
      event_risk: 5,
      vehicle_id: `v${i % (maxNamed + 1)}`,
      driver_id: `d${i % (maxNamed + 1)}`,
    }));
    await page('/portal');
    const counted = await rows(
      `select risk_5 as events, (select count(*) from json_each(vehicles)) as vehicles,
         (select count(*) from json_each(drivers)) as drivers
       from event_counts where account_id = ?1 and hours = 24`,
      us.accountId,
    );
    expect(counted).toEqual([{ events: maxPerHour, vehicles: maxNamed, drivers: maxNamed }]);
  });

  it('100,000 events in a CSV file, whose last line says so', { tags: ['proof'] }, async () => {
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
  const names = times(maxLinks + 1, (at) => `Account ${at}`);
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
  const others = { url: 'https://receiver.example.com/', httpVerb: 'POST', notificationTypes: '1' };
  const end = field === 'email' ? '@b.com' : '';
  const sent = async (characters: number) => {
    const fields = { ...others, [field]: end.padStart(characters, 'a') };
    return (await post(path, fields)).text();
  };
  const message = `can be at most ${limit.toLocaleString('en')} characters`;
  expect(await sent(limit)).not.toContain(message);
  expect(await sent(limit + 1)).toContain(message);
});
