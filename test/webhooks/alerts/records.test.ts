import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { maxPerAccountAndDay } from '../../../src/webhooks/alerts/messages.ts';
import { sendRecordMails } from '../../../src/webhooks/alerts/records.ts';
import { sendMessages } from '../../../src/webhooks/alerts/sending.ts';
import { newsMs } from '../../../src/webhooks/notifications/types.ts';
import { keepEmails } from '../../support/emails.ts';
import { ask, signIn } from '../../support/portal.ts';
import { accident, driver, safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { metered } from '../../support/runtime/meter.ts';
import { minute } from '../../support/service.ts';
import { as, call, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach);
let ann: Awaited<ReturnType<typeof signIn>>;
let emails: ReturnType<typeof keepEmails>;
beforeEach(async () => {
  ann = await signIn(us);
  emails = keepEmails();
  await send(vehicle(), vehicle({ sourceId: 'south', vin: 'SOUTH', name: 'Van 2', groups: ['South'] }));
});

const eventTime = new Date().toISOString();
const send = (...records: object[]) => as(us.connection.ingestKey).send(...records);
const crash = (level = 1, more = {}) => accident({ eventTime, notificationLevel: level, ...more });
const event = (more = {}) => safetyEvent({ startedAt: eventTime, eventRisk: 5, driver: 'driver-1', ...more });
const choose = (fields: [string, string][], who = ann) =>
  ask('POST', '/portal/settings/notifications', { cookie: who.cookie, fields });
async function run(now?: number) {
  await sendRecordMails(env, now);
  await sendMessages(env, now);
}
const subjects = () => emails.sent().map(({ subject }) => subject);
const all: [string, string][] = ['1', '2', '3'].map((level) => ['levels', level]);

describe('an email is sent', () => {
  it('once of each level, within the minute’s cron, with the vehicle, the time and a link, and no driver', async () => {
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
    const text = emails
      .sent()
      .map(({ text }) => text)
      .join();
    expect(text).toMatch(/\/portal\/accidents\/[0-9a-f-]{36}\?at=\d+/);
    expect(text).toMatch(/\d\d:\d\d GMT−[56]/);
    expect(text).not.toMatch(/Joss|driver/i);
  });

  it.each([
    ['a level that was not chosen', [['levels', '3']], () => send(crash(1), crash(2))],
    ['a lower risk', [['risk', '5']], () => send(event({ eventRisk: 4 }))],
    ['other groups', [...all, ['groups', 'North']], () => send(crash(1, { vin: 'SOUTH' }))],
    [
      'an event that is no news',
      [['risk', '4']],
      () => send(event({ startedAt: new Date(Date.now() - newsMs - 1000).toISOString() })),
    ],
    ['nothing, as nothing is chosen', [], () => send(crash(), event())],
    [
      'history',
      [...all, ['risk', '3']],
      () =>
        call('POST', '/ingest', {
          headers: { 'x-api-key': us.connection.ingestKey },
          body: { notify: false, records: [crash(), event()] },
        }),
    ],
  ] as [string, [string, string][], () => Promise<unknown>][])('not of %s', async (_, fields, happen) => {
    await choose(fields);
    await happen();
    await run();
    expect(emails.sent()).toEqual([]);
  });

  it('of a vehicle of a chosen group in any case, and of one that nobody knows', async () => {
    await choose([...all, ['groups', 'SOUTH']]);
    await send(crash(1, { vin: 'SOUTH' }));
    await run();
    await send(crash(1, { sourceId: 'other', vin: 'NOBODY' }));
    await run();
    expect(subjects().sort()).toEqual([
      'VIN NOBODY: Accident, level 1, first detection',
      'Van 2: Accident, level 1, first detection',
    ]);
  });

  it('of a false alarm to whoever knows of the accident', async () => {
    await choose([['levels', '1']]);
    await send(crash());
    await run();
    await send(crash(1, { dismissed: true }), crash(1, { sourceId: 'never known', dismissed: true }));
    await run();
    expect(subjects()).toEqual([
      'Truck 1: Accident, level 1, first detection',
      'Truck 1: The accident was a false alarm',
    ]);
  });
});

it('what happens within a minute is one message, which waits for the next day at the limit', async () => {
  await choose(all);
  await send(crash(), crash(1, { sourceId: 'second' }));
  await run();
  expect(subjects()).toEqual(['Truck 1: Accident, level 1, first detection and 1 more']);
  await rows('update alert_emails set sent = ?1', maxPerAccountAndDay);
  await send(crash(1, { sourceId: 'third' }));
  await run();
  expect(subjects()).toHaveLength(1);
  await run(Date.now() + 86_400_000);
  expect(subjects().at(-1)).toBe('Truck 1: Accident, level 1, first detection');
});

it('an account without rules costs ingest and the job nothing', async () => {
  await run();
  const before = await rows('select count(*) as n from record_mails');
  await send(crash(), event());
  const { env: bindings, cost } = metered();
  await sendRecordMails(bindings);
  expect(cost.written).toBe(0);
  expect(await rows('select count(*) as n from record_mails')).toEqual(before);
});
