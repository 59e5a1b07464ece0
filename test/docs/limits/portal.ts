import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { operatorIn } from '../../../src/accounts/owner.ts';
import { createSignInLinks } from '../../../src/accounts/sessions.ts';
import { connectionActivity, connectionRecords } from '../../../src/fleet/connection-activity.ts';
import { listConnections } from '../../../src/fleet/connections.ts';
import { matchFleet } from '../../../src/fleet/match.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { webhookActivity } from '../../../src/webhooks/deliveries/activity.ts';
import { deliveriesOf } from '../../../src/webhooks/deliveries/of-event.ts';
import { ask, signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { as, operator, type WebhookOut, type World, webhookBody, world } from '../../support/world.ts';
import {
  cookie,
  dayMs,
  type Hits,
  hourMs,
  letters,
  minute,
  minuteMs,
  refusedAfter,
  times,
  us,
} from './setting.ts';

/** Emails are sent when the reply is out. */
const patience = { timeout: 10_000 };

export const portalHits: Hits = {
  'tests, replays, invitations and new tokens of a session': async (limit) => {
    const { cookie } = await signIn(await world());
    await refusedAfter(limit, () => invite(cookie, 'not an address'));
  },
  'tests, replays, invitations and new tokens of an account': async (limit) => {
    const cookies = await colleagues(await world(), 4); // who stay below the limit of a session
    await refusedAfter(limit, (i) => invite(cookies[i % 4], 'not an address'));
  },
  'invitations of an account': async (limit) => {
    const cookies = await colleagues(await world(), 2);
    for (let i = 0; i < limit; i++) expect((await invite(cookies[i % 2])).status).toBe(303);
    const refused = await invite(cookies[0]);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(`at most ${limit} people a day`);
  },
  'emails that invite one address, whoever sends them': async (hourly) => {
    const send = vi.spyOn(env.EMAIL, 'send').mockResolvedValue({ messageId: '1' });
    // New accounts, whose actions of this minute are all left.
    const [ours = '', theirs = ''] = [
      ...(await colleagues(await world(), 1)),
      ...(await colleagues(await world(), 1)),
    ];
    const email = newAddress();
    const emailed = (to: string, times: number) =>
      vi.waitFor(
        () => expect(send.mock.calls.filter(([mail]) => mail.to === to)).toHaveLength(times),
        patience,
      );
    const age = (ms: number) =>
      rows('update invitations set sent_at = sent_at - ?1 where email = ?2', ms, email);
    await invite(ours, email);
    await emailed(email, hourly);
    await age(hourMs - minuteMs);
    const later = newAddress();
    await invite(theirs, email);
    await invite(theirs, later);
    await emailed(later, 1);
    await emailed(email, hourly);
    await age(minuteMs);
    await invite(theirs, email);
    await emailed(email, hourly + 1);
  },
  'time that an unused invitation is kept': async (days) => {
    const them = await world();
    const [cookie] = await colleagues(them, 1);
    const email = newAddress();
    const age = (ms: number) =>
      rows('update portal_users set created_at = created_at - ?1 where email = ?2', ms, email);
    const kept = async () => (await rows('select 1 from portal_users where email = ?1', email)).length === 1;
    await invite(cookie, email);
    await age(days * dayMs - minuteMs);
    await invite(cookie);
    expect(await kept()).toBe(true);
    await age(minuteMs);
    await invite(cookie);
    expect(await kept()).toBe(false);
  },
  'asking for sign-in links from one address': (limit) =>
    refusedAfter(limit, () =>
      ask('POST', '/portal/sign-in', { headers: { 'cf-connecting-ip': '203.0.113.9' } }),
    ),
  'sign-in links for one email address': async (limit) => {
    const linksOf = async (email: string) =>
      (
        await rows(
          'select 1 from sign_in_links where user_id = (select id from portal_users where email = ?1)',
          email,
        )
      ).length;
    const [{ email }, other] = await Promise.all([signIn(us), signIn(us)]);
    const request = (email: string) => ask('POST', '/portal/sign-in', { fields: { email } });
    const began = minute();
    for (let i = 0; i <= limit; i++) await request(email);
    await request(other.email);
    await vi.waitFor(async () => expect(await linksOf(other.email)).toBe(1), patience);
    await vi.waitFor(async () => expect(await linksOf(email)).toBeGreaterThanOrEqual(limit), patience);
    if (minute() === began) expect(await linksOf(email)).toBe(limit);
  },
  'accounts that an email invites to at a time': async (limit) => {
    const email = newAddress();
    for (let i = 0; i <= limit; i++) {
      const { data } = await operator.post<{ id: string }>('/operator/accounts', { name: `Account ${i}` });
      await operator.post(`/operator/accounts/${data.id}/users`, { email });
    }
    const links = await createSignInLinks(env, email);
    expect(links.map(({ account }) => account)).toEqual(times(limit, (i) => `Account ${limit - i}`));
  },
  'time that a sign-in link works': async (minutes) => {
    const { email } = await signIn(us);
    await operator.post('/operator/sign-in-links', { email });
    const [link] = await rows('select max(expires_at) as at from sign_in_links');
    expect(Math.round((Number(link?.at) - Date.now()) / minuteMs)).toBe(minutes);
  },
  'tries to use a sign-in link': async (limit) => {
    const { email } = await signIn(us);
    const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
    await refusedAfter(limit, () => ask('POST', new URL(data.url).pathname));
  },
  'time that a session lasts': async (days) => {
    await signIn(us);
    const [session] = await rows('select max(expires_at) as at from sessions');
    expect(Math.round((Number(session?.at) - Date.now()) / dayMs)).toBe(days);
  },
  'what a form sends': async (limit) => {
    const body = (size: number) => `name=`.padEnd(size, '+');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const post = (size: number) =>
      ask('POST', '/portal/settings/tokens', { cookie, headers, body: body(size) });
    expect((await post(limit)).status).not.toBe(413);
    expect((await post(limit + 1)).status).toBe(413);
  },
  'email address of a person': async (limit) => {
    const post = async (size: number) => {
      const fields = { email: `p@${letters(60)}.${letters(60)}.`.padEnd(size - 4, 'b').concat('.com') };
      return (await ask('POST', '/portal/settings/people', { cookie, fields })).text();
    };
    expect(await post(limit)).not.toContain(`at most ${limit} characters`);
    expect(await post(limit + 1)).toContain(`at most ${limit} characters`);
  },
  'time that the charts of a webhook go back': async (days) => {
    const caller = { accountId: us.accountId, operator: true } as const;
    const { hours } = await webhookActivity(env, caller, us.connection.id, { limit: 1 });
    expect(hours).toHaveLength(24 * days);
  },
  'name of a webhook': async (limit) => labelled('name', limit),
  'description of a webhook': async (limit) => labelled('description', limit),
  'deliveries that a search finds': async (limit) => {
    const { data } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
    const eventId = crypto.randomUUID();
    await rows(
      `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
       values (?1, 0, 2, ?2, ?3, '{}', 0)`,
      ...[eventId, us.accountId, us.connection.id],
    );
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < ?4)
       select ?1, printf('00000000-0000-7000-8000-%012x', i), ?2, ?3, 0, 'delivered', 0 from n`,
      ...[data.id, us.accountId, eventId, limit + 1],
    );
    const caller = { accountId: us.accountId, operator: true } as const;
    const { part } = await webhookActivity(env, caller, data.id, { limit: 1, search: eventId });
    expect(part.deliveries).toHaveLength(limit);
  },
  'events of a CSV file': async (limit) => {
    const them = await world();
    const { cookie } = await signIn(them);
    await rows(
      `with recursive n (i) as (select 0 union all select i + 1 from n where i < ?3)
       insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
         translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
         created_at, updated_at)
       select 'many-' || i, ?1, ?4, 's' || i, 'Motive', '[]', '[]', 1, 0, ?2 - i, 'v', 'Truck', '[]', 0, 0 from n`,
      them.accountId,
      Date.now() - 1000,
      limit,
      them.connection.id,
    );
    const path = `/portal/events.csv?connection=${them.connection.id}`;
    const lines = (await (await ask('GET', path, { cookie })).text()).trimEnd().split('\n');
    expect(lines).toHaveLength(1 + limit + 1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.at(-1)).toContain('Choose a shorter period');
  },
  'vehicles, and drivers, that a filter by name matches': async (limit) => {
    const them = await world();
    for (const table of ['vehicles', 'drivers'])
      await rows(
        `with recursive n (i) as (select 0 union all select i + 1 from n where i < ?3)
         insert into ${table} (id, account_id, connection_id, source_id, name, ${table === 'drivers' ? 'status' : 'status, groups'},
           created_at, updated_at)
         select ?1 || i, ?1, ?2, 's' || i, 'Robin ' || i, ${table === 'drivers' ? '1' : "'active', '[]'"}, 0, 0 from n`,
        them.accountId,
        them.connection.id,
        limit,
      );
    const typed = { vehicle: 'robin', driver: 'robin' };
    const { vehicles, drivers } = await matchFleet(env, operatorIn(them.accountId), typed);
    expect([vehicles?.length, drivers?.length]).toEqual([limit, limit]);
  },
  'deliveries on the page of an event or accident': async (limit) => {
    const them = await world();
    const [eventId, createdAt] = [crypto.randomUUID(), Date.now() - minuteMs];
    await rows(
      `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
       values (?1, 0, 2, ?2, ?3, '{}', ?4)`,
      eventId,
      them.accountId,
      them.connection.id,
      createdAt,
    );
    const ids = times(limit + 1, () => ({ id: newId(createdAt), webhook: newId() }));
    await rows(
      `insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
       select value->>'webhook', ?2, value->>'webhook', value->>'webhook', 'POST', '{}', 2, 0 from json_each(?1)`,
      JSON.stringify(ids),
      them.accountId,
    );
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, log)
       select value->>'webhook', value->>'id', ?2, ?3, 0, 'delivered', 0, '[]' from json_each(?1)`,
      JSON.stringify(ids),
      them.accountId,
      eventId,
    );
    const told = await deliveriesOf(env, operatorIn(them.accountId), eventId);
    expect(told).toMatchObject({ deliveries: { length: limit }, complete: false });
  },
  'events of a vehicle around one of its own or an accident': async (limit, hours = 0) => {
    const them = await world();
    const { cookie } = await signIn(them);
    const [vehicleId, at] = [crypto.randomUUID(), Date.now() - 12 * hourMs];
    const place = (minutes: number[]) =>
      rows(
        `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
           translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
           created_at, updated_at)
         select ?4 || '-' || value, ?1, ?3, ?4 || value, 'Motive', '[]', '["Other"]', 1, 0, ?2 + value * 60000, ?4,
           'Truck', '[]', 0, 0 from json_each(?5)`,
        them.accountId,
        at,
        them.connection.id,
        vehicleId,
        JSON.stringify(minutes),
      );
    await rows(
      `insert into accidents (id, account_id, connection_id, tsp, vin, vehicle_id, event_time, location,
         notification_level, report_ready, is_accurate, dismissed, levels, told, created_at, updated_at)
       values (?1, ?2, ?3, 'Motive', 'VIN', ?1, ?4, '{"latitude":1,"longitude":1}', 1, 0, 0, 0, '[]', 1, 0, 0)`,
      vehicleId,
      them.accountId,
      them.connection.id,
      at,
    );
    const shown = async () => {
      const html = await (await ask('GET', `/portal/accidents/${vehicleId}`, { cookie })).text();
      return html.match(/href="\/portal\/events\/[^"]*"/g)?.length ?? 0;
    };
    const edge = hours * 30;
    await place([-edge - 1, -edge, edge, edge + 1]);
    expect(await shown()).toBe(2);
    await place(times(limit, (i) => i - limit / 2));
    expect(await shown()).toBe(limit);
  },
  'connections on a page of the portal': async (limit) => {
    const them = await world();
    await moreConnections(them, limit);
    const { cookie } = await signIn(them);
    const page = await (await ask('GET', '/portal/connections', { cookie })).text();
    expect(page.match(/class="tile"/g)).toHaveLength(limit);
    expect(page).toContain('/portal/connections?cursor=');
  },
  'vehicles, and events of a day, counted for each connection in the list': async (limit) => {
    const them = await world();
    const caller = operatorIn(them.accountId);
    const counts = async () => (await connectionActivity(env, caller, { limit: 1 })).get(them.connection.id);
    await moreVehicles(them, limit);
    await moreEvents(them, limit);
    expect(await counts()).toMatchObject({ vehicles: limit, events: limit, byHour: expect.anything() });
    await moreVehicles(them, 2);
    await moreEvents(them, 2);
    expect(await counts()).toMatchObject({ vehicles: limit + 1, events: limit + 1, byHour: undefined });
  },
  'records of a kind counted for a connection on its page': async (limit) => {
    const them = await world();
    await moreVehicles(them, limit + 10);
    const { records } = await connectionRecords(env, operatorIn(them.accountId), them.connection.id);
    expect(records.find(({ kind }) => kind === 'vehicles')?.count).toBe(limit + 1); // shown as that many or more
  },
  'connections that the portal lists': async (limit) => {
    const them = await world();
    await moreConnections(them, limit);
    expect(await listConnections(env, operatorIn(them.accountId))).toHaveLength(limit);
  },
};

let made = 0;

const moreConnections = ({ connection }: World, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
     insert into connections (id, account_id, provider, tsp, created_at, updated_at)
     select id || i, account_id, provider, tsp, created_at, updated_at from connections, n where id = ?1`,
    connection.id,
    count,
  );

const moreVehicles = ({ accountId, connection }: World, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?3)
     insert into vehicles (id, account_id, connection_id, source_id, name, groups, status, created_at, updated_at)
     select ?4 || i, ?1, ?2, ?4 || i, 'Truck', '[]', 'active', 0, 0 from n`,
    accountId,
    connection.id,
    count,
    `many-${made++}-`,
  );

const moreEvents = ({ accountId, connection }: World, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?3)
     insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
       created_at, updated_at)
     select ?4 || i, ?1, ?2, ?4 || i, 'Motive', '[]', '[]', 1, 0, ?5 - i, 'v', 'Truck', '[]', 0, 0 from n`,
    accountId,
    connection.id,
    count,
    `many-${made++}-`,
    Date.now() - 1000,
  );

const newAddress = () => `invited-${made++}@example.com`;

const invite = (cookie = '', email = newAddress()) =>
  ask('POST', '/portal/settings/people', { cookie, fields: { email } });

/** Signs so many people of the account in. */
const colleagues = async (them: World, count: number) =>
  (await Promise.all(times(count, () => signIn(them)))).map(({ cookie }) => cookie);

/** Saves a webhook with a name or description of so many characters, and then with one more. */
async function labelled(field: string, limit: number) {
  const { cookie } = await signIn(us);
  const save = (characters: number) =>
    ask('POST', '/portal/webhooks/new', {
      cookie,
      fields: {
        url: `https://receiver.example.com/${crypto.randomUUID()}`,
        httpVerb: 'POST',
        notificationTypes: '1',
        [field]: letters(characters),
      },
    });
  expect((await save(limit)).status).toBe(303);
  const refused = await save(limit + 1);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain(`can be at most ${limit} characters`);
}
