import { env } from 'cloudflare:workers';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import { sendSummaries } from '#src/extras/summaries/summaries.ts';
import { summaryTexts } from '#src/extras/summaries/texts.ts';
import { daysUntil, nextAt } from '#src/extras/summaries/zone.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import {
  accident,
  addressIn,
  ask,
  changeAccount,
  changeConnection,
  dayMs,
  driver,
  type Email,
  keepEmails,
  listenToLog,
  personBefore,
  rows,
  safetyEvent,
  signIn,
  textOf,
  value,
  vehicle,
  visitor,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let emails: ReturnType<typeof keepEmails>;
beforeEach(() => {
  emails = keepEmails();
});
const sent = () => emails.sent().filter(({ to }) => to === ann.email);
const due = () =>
  value<number>('select summary_due_at from portal_users where email = ?1', ann.email);

const timeZone = 'America/Chicago';

/** Chooses the summary as somebody whose browser is in Chicago. */
async function choose() {
  const reader = visitor(() => `${ann.cookie}; timezone=America%2FChicago`);
  await (await reader.page('/portal/settings/notifications')).press('Save', {
    'A summary each morning': true,
  });
}

/** Runs the job after the summary has become due. */
async function morning() {
  await rows('update portal_users set summary_due_at = 1 where email = ?1', ann.email);
  await sendSummaries(env);
}

it('a summary comes each morning, in the person’s zone, once', async () => {
  await sendSummaries(env, Date.now() + 2 * dayMs);
  expect(sent()).toEqual([]);
  await choose();
  const time = new Intl.DateTimeFormat('sv', { timeZone, timeStyle: 'short' });
  expect(time.format((await due()) ?? 0)).toBe('07:00');
  await sendSummaries(env);
  expect(sent()).toEqual([]);
  await morning();
  await sendSummaries(env);
  expect(sent()).toHaveLength(1);
  expect(await due()).toBeGreaterThan(Date.now());
});

it('one for which an invocation has no time left is sent by the next', async () => {
  await signIn(us, 'viewer');
  await rows('update portal_users set summary_due_at = 1 where account_id = ?1', us.accountId);
  const budget = newBudget();
  emails.send.mockImplementation(async () => {
    budget.queries = 0;
    return { messageId: '1' };
  });
  await sendSummaries(env, Date.now(), budget);
  expect(emails.sent()).toHaveLength(1);
  await sendSummaries(env);
  expect(emails.sent()).toHaveLength(2);
});

it('it has what needs attention, yesterday’s events, the worst drivers, and silent connections', async () => {
  const yesterday = new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now() - dayMs);
  const noon = `${yesterday}T17:00:00Z`;
  await us.send(
    vehicle(),
    driver(),
    accident({ notificationLevel: 3 }),
    accident({ sourceId: 'false', dismissed: true }),
    safetyEvent({ startedAt: noon, eventRisk: 5, driver: 'driver-1' }),
    safetyEvent({ sourceId: 'b', startedAt: noon, eventRisk: 2 }),
  );
  await countEvents(env);
  const silent = { name: 'Cold chain', healthStatus: 3 };
  await changeConnection(us.connection.id, silent);
  await choose();
  await morning();
  const [{ subject, text } = {} as Email] = sent();
  expect(subject).toBe('1 accident needs attention, 2 safety events yesterday');
  expect(text).toMatch(/Truck 1: Level 3, report ready, .*accidents\/[\da-f-]{36}/);
  expect(text).toMatch(/2: 1 critical, 0 high, 0 medium, 1 low, 0 very low\./);
  expect(text).toMatch(/Ann \(driver-1\): 1 of risk 5, 0 of risk 4\./);
  expect(text).toContain('Cold chain: No data arrives.');
});

it.each([
  [5, false],
  [6, true],
])(
  'of %d connections without data it names five, and says %s that there are more',
  (count, more) => {
    const unwell = { id: 'c', name: 'Fleet', status: 3 } as const;
    const { parts } = summaryTexts(
      {
        day: '2026-11-29',
        accidents: { count: 0, newest: [] },
        connections: Array(count).fill(unwell),
        risks: [0, 0, 0, 0, 0],
        drivers: [],
      },
      { portal: 'https://portal.example.com', zone: 'UTC' },
    );
    const names = parts.map(({ name }) => name);
    expect(names.filter((name) => name === 'Fleet')).toHaveLength(5);
    expect(names.includes('More connections')).toBe(more);
  },
);

it('it is turned off by its link, by people and by mail programs, without a session', async () => {
  const fromProgram = {
    origin: 'https://mail.example.com',
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  };
  for (const request of [{}, fromProgram]) {
    await choose();
    await morning();
    const [{ headers, text } = {} as Email] = sent().slice(-1);
    const url = headers['List-Unsubscribe']?.slice(1, -1) ?? '';
    expect(text).toContain(url);
    expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    const path = addressIn(url);
    expect(await textOf(await ask('GET', path))).toContain('Turn off the daily summary?');
    expect((await ask('POST', `${path}x`)).status).toBe(404);
    expect(await due()).not.toBeNull();
    expect(await textOf(await ask('POST', path, request))).toContain('The daily summary is off');
    expect(await due()).toBeNull();
  }
});

it('one that fails is tried again within the day, and the account’s suspension stops them', async () => {
  await choose();
  emails.send.mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'E_X' }));
  await morning();
  expect((await due()) ?? 0).toBeLessThanOrEqual(Date.now() + 3_600_000);
  await changeAccount(us, { status: 'suspended' });
  emails.send.mockClear();
  await morning();
  expect(sent()).toEqual([]);
});

it('one that fails on our side says why in the log', async () => {
  await choose();
  await rows('update portal_users set summary_due_at = 1 where email = ?1', ann.email);
  const { lines } = listenToLog();
  await sendSummaries({ ...env, EMAIL_FROM: undefined } as unknown as Env); // as deployed without
  const error = 'Error: EMAIL_FROM is not set: this deployment sends no mail';
  expect(lines('fault')).toMatchObject([{ message: 'A summary could not be sent', error }]);
});

const at = (text: string) => Date.parse(text);

it.each([
  ['UTC', '2026-11-20T06:59Z', '2026-11-20T07:00Z'],
  ['UTC', '2026-11-20T07:00Z', '2026-11-21T07:00Z'],
  ['America/Chicago', '2026-11-20T12:00Z', '2026-11-20T13:00Z'],
  ['America/Chicago', '2026-11-01T04:00Z', '2026-11-01T13:00Z'], // clocks go back that night
  ['Asia/Kathmandu', '2026-11-20T02:00Z', '2026-11-21T01:15Z'],
])('in %s, the next seven o’clock after %s is %s', (zone, now, next) => {
  expect(nextAt(zone, 7, at(now))).toBe(at(next));
});

it.each([
  ['UTC', '2026-11-20T07:00Z', ['2026-11-18T00:00Z', '2026-11-19T00:00Z', '2026-11-20T00:00Z']],
  [
    'America/Chicago',
    '2026-11-02T13:00Z',
    ['2026-10-31T05:00Z', '2026-11-01T05:00Z', '2026-11-02T06:00Z'],
  ],
])('in %s, the days until %s begin at %o', (zone, now, starts) => {
  expect(daysUntil(zone, 2, at(now)).map(({ start }) => start)).toEqual(starts.map(at));
});
