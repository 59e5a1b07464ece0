import { env } from 'cloudflare:workers';
import { newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { newsMs } from '#src/core/webhooks/notifications/types.ts';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import {
  accident,
  addRows,
  ago,
  driver,
  metered,
  minute,
  newId,
  rows,
  safetyEvent,
  signIn,
  times,
  unwoken,
  vehicle,
} from '#test/support.ts';
import { alertStory } from './support.ts';

const { us, send, ann, mails, subjects } = alertStory();
const van = vehicle({ sourceId: 'south', vin: 'SOUTH1', name: 'Van 2', groups: ['South'] });
beforeEach(() => send(vehicle(), van));

const eventTime = ago(0);
const crash = (level = 1, more = {}) => accident({ eventTime, notificationLevel: level, ...more });
const event = (more = {}) =>
  safetyEvent({ startedAt: eventTime, eventRisk: 5, driver: 'driver-1', ...more });
type Rule = { levels?: string[]; risk?: string; groups?: string };
/** Ann chooses what she is sent. */
const choose = ({ levels = [], ...others }: Rule) =>
  ann.post('/portal/settings/notifications', [
    ...levels.map((level): [string, string] => ['levels', level]),
    ...Object.entries(others),
  ]);
const quiet = { ...env, DELIVERIES: unwoken };
async function run() {
  await sendRecordAlerts(quiet);
  await sendMessages(env);
}
const levels = ['1', '2', '3'];
const first = (vehicle: string) => `${vehicle}: Accident, level 1, first detection`;

describe('an email is sent', () => {
  it('of accidents to the first person of an account, until they choose otherwise', async () => {
    await signIn(us);
    await send(crash(), event());
    await run();
    expect(mails()).toMatchObject([{ to: ann.email, subject: first('Truck 1') }]);
    await choose({});
    await send(crash(2));
    await run();
    expect(mails()).toHaveLength(1);
  });

  it('once of each level, by the cron, with vehicle, time and link, and no driver', async () => {
    await rows(`update portal_users set time_zone = 'America/Chicago' where email = ?`, ann.email);
    await choose({ levels, risk: '4' });
    await send(driver({ name: 'Joss Arden' }), crash(), event());
    await minute();
    await expect.poll(subjects).toHaveLength(1);
    await send(crash(), event({ maxSpeedKph: 90 }), crash(2));
    await run();
    await run();
    expect(subjects().sort()).toEqual([
      `${first('Truck 1')} and 1 more`,
      'Truck 1: Accident, level 2, verified',
    ]);
    const text = JSON.stringify(mails().map(({ text }) => text));
    expect(text).toMatch(/\/portal\/accidents\/[0-9a-f-]{36}\?at=\d+/);
    expect(text).toMatch(/\d\d:\d\d GMT−[56]/);
    expect(text).not.toMatch(/Joss|driver/i);
  });

  const old = { startedAt: ago(newsMs + 1000) };
  it.each<[what: string, rule: Rule, ...records: object[]]>([
    ['a level that was not chosen', { levels: ['3'] }, crash(1), crash(2)],
    ['a lower risk', { risk: '5' }, event({ eventRisk: 4 })],
    ['other groups', { levels, groups: 'North' }, crash(1, { vin: 'SOUTH1' })],
    ['an event that is no news', { risk: '4' }, event(old)],
  ])('not of %s', async (_, rule, ...records) => {
    await choose(rule);
    await send(...records);
    await run();
    expect(mails()).toEqual([]);
  });

  it('not of history', async () => {
    await choose({ levels, risk: '3' });
    await us.connector.post('/ingest', { notify: false, records: [crash(), event()] });
    await run();
    expect(mails()).toEqual([]);
  });

  it('of a vehicle of a chosen group in any case, and of one that nobody knows', async () => {
    await choose({ levels, groups: 'SOUTH' });
    await send(crash(1, { vin: 'SOUTH1' }));
    await run();
    await send(crash(1, { sourceId: 'other', vin: 'NOBODY1' }));
    await run();
    expect(subjects()).toEqual([first('Van 2'), first('VIN NOBODY1')]);
  });

  it('of a false alarm to whoever knows of the accident', async () => {
    await choose({ levels: ['1'] });
    await send(crash());
    await run();
    const unknown = crash(1, { sourceId: 'never known', dismissed: true });
    await send(crash(1, { dismissed: true }), unknown);
    await run();
    expect(subjects()).toEqual([first('Truck 1'), 'Truck 1: The accident was a false alarm']);
  });
});

it('what happens until a message is sent is in one message', async () => {
  await choose({});
  await run();
  await choose({ levels });
  await send(crash(), crash(1, { sourceId: 'second' }));
  await run();
  expect(subjects()).toEqual([`${first('Truck 1')} and 1 more`]);
});

it('what was deleted before its message could be sent is not named', async () => {
  await choose({ levels });
  const sendBut = async (deleted: string, ...records: object[]) => {
    await send(...records);
    await sendRecordAlerts(quiet);
    await rows(`delete from accidents where ${deleted}`);
    await sendMessages(env);
    expect(subjects()).toEqual([first('Van 2')]);
  };
  await sendBut("vin <> 'SOUTH1'", crash(), crash(1, { sourceId: 'second', vin: 'SOUTH1' }));
  await sendBut('true', crash(1, { sourceId: 'third' }));
  expect(await rows('select 1 from alert_messages')).toEqual([]);
});

it('an account without rules costs ingest and the job nothing', async () => {
  await choose({});
  await run();
  await send(crash(), event());
  const { env: bindings, cost } = metered();
  await sendRecordAlerts(bindings);
  expect(cost.written).toBe(0);
  expect(await rows('select 1 from alert_messages')).toEqual([]);
});

it('thirty rules and thousands of events are few rows, and one message each', async () => {
  const recipients = times(30, () => newId());
  const of = { account_id: us.accountId };
  const person = { ...of, confirmed_at: 1 };
  await addRows('portal_users', 20, (i) => ({ ...person, id: recipients[i], email: `${i}` }));
  const channel = { ...of, kind: 'https', address: '{}' };
  await addRows('alert_channels', 10, (i) => ({ ...channel, id: recipients[20 + i] }));
  await addRows('mail_rules', 30, (i) => ({ ...of, recipient_id: recipients[i], risk: 1 }));
  await rows('insert or ignore into mail_feeds values (?1, 0)', us.accountId);
  const at = Date.now();
  const events = times(2_000, () => newId());
  const risky = { ...of, connection_id: us.connection.id, event_risk: 5 };
  await addRows('safety_events', 2_000, (i) => ({
    ...risky,
    id: events[i],
    started_at: at,
    created_at: at,
    updated_at: at,
  }));
  await addRows('changes', 4, (i) => ({
    ...of,
    seq: at + i,
    lag: i,
    action: 'changed',
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
  const messages = await rows('select kind, total from alert_messages');
  expect(messages).toEqual(Array(30).fill({ kind: 'record', total: 2_000 }));
});
