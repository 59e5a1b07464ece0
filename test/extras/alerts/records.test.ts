import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { alertStory } from '#test/extras/alerts/support.ts';
import { ask, signIn } from '#test/support/portal.ts';
import { accident, driver, safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { minute } from '#test/support/service.ts';

const { us, send, ann, emails, subjects } = alertStory();
beforeEach(async () => {
  await send(
    vehicle(),
    vehicle({ sourceId: 'south', vin: 'SOUTH1', name: 'Van 2', groups: ['South'] }),
  );
});

const eventTime = new Date().toISOString();
const crash = (level = 1, more = {}) => accident({ eventTime, notificationLevel: level, ...more });
const event = (more = {}) =>
  safetyEvent({ startedAt: eventTime, eventRisk: 5, driver: 'driver-1', ...more });
const choose = (fields: [string, string][], who = ann) =>
  ask('POST', '/portal/settings/notifications', { cookie: who.cookie, fields });
async function run() {
  await sendRecordAlerts(env);
  await sendMessages(env);
}
const all: [string, string][] = ['1', '2', '3'].map((level) => ['levels', level]);

describe('an email is sent', () => {
  it('of accidents to the first person of an account, until they choose otherwise', async () => {
    await signIn(us);
    await send(crash(), event());
    await run();
    expect(emails.sent()).toMatchObject([
      { to: ann.email, subject: expect.stringContaining('level 1') },
    ]);
    await choose([]);
    await send(crash(2));
    await run();
    expect(emails.sent()).toHaveLength(1);
  });

  it('once of each level, by the cron, with vehicle, time and link, and no driver', async () => {
    await rows(`update portal_users set time_zone = 'America/Chicago' where email = ?`, ann.email);
    await choose([...all, ['risk', '4']]);
    await send(driver({ name: 'Joss Arden' }), crash(), event());
    await minute();
    await expect.poll(subjects, { timeout: 10_000 }).toHaveLength(1);
    await send(crash(), event({ maxSpeedKph: 90 }), crash(2));
    await run();
    await run();
    expect(subjects().sort()).toEqual([
      'Truck 1: Accident, level 1, first detection and 1 more',
      'Truck 1: Accident, level 2, verified',
    ]);
    const text = JSON.stringify(emails.sent().map(({ text }) => text));
    expect(text).toMatch(/\/portal\/accidents\/[0-9a-f-]{36}\?at=\d+/);
    expect(text).toMatch(/\d\d:\d\d GMT−[56]/);
    expect(text).not.toMatch(/Joss|driver/i);
  });

  it.each([
    ['a level that was not chosen', [['levels', '3']], () => send(crash(1), crash(2))],
    ['a lower risk', [['risk', '5']], () => send(event({ eventRisk: 4 }))],
    ['other groups', [...all, ['groups', 'North']], () => send(crash(1, { vin: 'SOUTH1' }))],
    [
      'an event that is no news',
      [['risk', '4']],
      () => send(event({ startedAt: new Date(Date.now() - newsMs - 1000).toISOString() })),
    ],
    ['nothing, as nothing is chosen', [], () => send(crash(), event())],
    [
      'history',
      [...all, ['risk', '3']],
      () => us.connector.post('/ingest', { notify: false, records: [crash(), event()] }),
    ],
  ] as [string, [string, string][], () => Promise<unknown>][])(
    'not of %s',
    async (_, fields, happen) => {
      await choose(fields);
      await happen();
      await run();
      expect(emails.sent()).toEqual([]);
    },
  );

  it('of a vehicle of a chosen group in any case, and of one that nobody knows', async () => {
    await choose([...all, ['groups', 'SOUTH']]);
    await send(crash(1, { vin: 'SOUTH1' }));
    await run();
    await send(crash(1, { sourceId: 'other', vin: 'NOBODY1' }));
    await run();
    expect(subjects().sort()).toEqual([
      'VIN NOBODY1: Accident, level 1, first detection',
      'Van 2: Accident, level 1, first detection',
    ]);
  });

  it('of a false alarm to whoever knows of the accident', async () => {
    await choose([['levels', '1']]);
    await send(crash());
    await run();
    await send(
      crash(1, { dismissed: true }),
      crash(1, { sourceId: 'never known', dismissed: true }),
    );
    await run();
    expect(subjects()).toEqual([
      'Truck 1: Accident, level 1, first detection',
      'Truck 1: The accident was a false alarm',
    ]);
  });
});

it('what happens until a message is sent is in one message', async () => {
  await choose([]);
  await run();
  await choose(all);
  await send(crash(), crash(1, { sourceId: 'second' }));
  await run();
  expect(subjects()).toEqual(['Truck 1: Accident, level 1, first detection and 1 more']);
});

it('what was deleted before its message could be sent is not named', async () => {
  await choose(all);
  const { env: quiet } = metered(); // whose queue brings no job
  await send(crash(), crash(1, { sourceId: 'second', vin: 'SOUTH1' }));
  await sendRecordAlerts(quiet);
  await rows("delete from accidents where vin <> 'SOUTH1'");
  await sendMessages(env);
  expect(subjects()).toEqual(['Van 2: Accident, level 1, first detection']);
  await send(crash(1, { sourceId: 'third' }));
  await sendRecordAlerts(quiet);
  await rows('delete from accidents');
  await sendMessages(env);
  expect(subjects()).toHaveLength(1);
  expect(await rows('select 1 from alert_messages')).toEqual([]);
});

it('an account without rules costs ingest and the job nothing', async () => {
  await choose([]);
  await run();
  await send(crash(), event());
  const { env: bindings, cost } = metered();
  await sendRecordAlerts(bindings);
  expect(cost.written).toBe(0);
  expect(await rows('select 1 from alert_messages')).toEqual([]);
});

it('thirty rules and thousands of events are few rows, and one message each', async () => {
  const recipients = Array.from({ length: 30 }, () => newId());
  const of = { account_id: us.accountId };
  await addRows('portal_users', 20, (i) => ({
    ...of,
    id: recipients[i],
    email: `${i}`,
    confirmed_at: 1,
  }));
  await addRows('alert_channels', 10, (i) => ({
    ...{ ...of, id: recipients[20 + i], kind: 'https', address: '{}' },
  }));
  await addRows('mail_rules', 30, (i) => ({ ...of, recipient_id: recipients[i], risk: 1 }));
  await rows('insert or ignore into mail_feeds values (?1, 0)', us.accountId);
  const at = Date.now();
  const events = Array.from({ length: 2_000 }, () => newId());
  await addRows('safety_events', 2_000, (i) => ({
    ...{ ...of, id: events[i], connection_id: us.connection.id, event_risk: 5 },
    ...{ started_at: at, created_at: at, updated_at: at },
  }));
  await addRows('changes', 4, (i) => ({
    ...{ ...of, seq: at + i, lag: i, action: 'changed' },
    records: JSON.stringify({ safetyEvent: events.slice(i * 500, (i + 1) * 500) }),
  }));
  const { env: bindings, cost } = metered();
  for (let step = 0; step < 4; step++) {
    const budget = newBudget({ queries: 3 });
    const before = { ...cost };
    await sendRecordAlerts(within(bindings, budget), at, budget);
    expect(cost.written - before.written).toBeLessThan(100);
    expect(cost.read - before.read).toBeLessThan(100_000);
  }
  expect(
    await rows('select kind, total, count(*) as messages from alert_messages group by total'),
  ).toEqual([{ kind: 'record', total: 2_000, messages: 30 }]);
});
