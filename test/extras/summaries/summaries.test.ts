import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
import { sendSummaries } from '#src/extras/summaries/summaries.ts';
import { summaryTexts } from '#src/extras/summaries/texts.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { type Email, keepEmails } from '#test/support/emails.ts';
import { addressIn, ask, personBefore, textOf, visitor } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { operator, worldBefore } from '#test/support/world.ts';

type Sent = Email & { headers: Record<string, string> };

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let emails: ReturnType<typeof keepEmails>;
beforeEach(() => {
  receiver();
  emails = keepEmails();
});
const sent = () => emails.sent().filter(({ to }) => to === ann.email) as Sent[];
const due = () =>
  value<number>('select summary_due_at from portal_users where email = ?1', ann.email);

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
  const time = new Intl.DateTimeFormat('sv', { timeZone: 'America/Chicago', timeStyle: 'short' });
  expect(time.format((await due()) ?? 0)).toBe('07:00');
  await sendSummaries(env);
  expect(sent()).toEqual([]);
  await morning();
  await sendSummaries(env);
  expect(sent()).toHaveLength(1);
  expect(await due()).toBeGreaterThan(Date.now());
});

it('it has what needs attention, yesterday’s events, the worst drivers, and silent connections', async () => {
  const noon = new Date(Date.now() - dayMs).toISOString().replace(/T.*/, 'T17:00:00Z');
  await us.send(
    vehicle(),
    driver(),
    accident({ notificationLevel: 3 }),
    accident({ sourceId: 'false', dismissed: true }),
    safetyEvent({ startedAt: noon, eventRisk: 5, driver: 'driver-1' }),
    safetyEvent({ sourceId: 'b', startedAt: noon, eventRisk: 2 }),
  );
  await countEvents(env);
  await operator.patch(`/operator/connections/${us.connection.id}`, {
    name: 'Cold chain',
    healthStatus: 3,
  });
  await choose();
  await morning();
  const [mail] = sent();
  expect(mail?.subject).toBe('1 accident needs attention, 2 safety events yesterday');
  expect(mail?.text).toMatch(/Truck 1: Level 3, report ready, .*accidents\/[\da-f-]{36}/);
  expect(mail?.text).toMatch(/2: 1 critical, 0 high, 0 medium, 1 low, 0 very low\./);
  expect(mail?.text).toMatch(/Ann \(driver-1\): 1 of risk 5, 0 of risk 4\./);
  expect(mail?.text).toContain('Cold chain: No data arrives.');
});

it.each([
  [5, false],
  [6, true],
])(
  'of %d connections without data it names five, and says %s that there are more',
  (count, more) => {
    const connections = Array.from({ length: count }, (_, i) => ({
      ...{ id: `c${i}`, name: `Fleet ${i}`, status: 3 as const },
    }));
    const { parts } = summaryTexts(
      {
        ...{ day: '2026-11-29', accidents: { count: 0, newest: [] }, connections },
        ...{ risks: [0, 0, 0, 0, 0], drivers: [] },
      },
      { portal: 'https://portal.example.com', zone: 'UTC' },
    );
    expect(parts.filter(({ name }) => /^Fleet/.test(name ?? ''))).toHaveLength(5);
    expect(parts.some(({ name }) => name === 'More connections')).toBe(more);
  },
);

it('it is turned off by its link, by people and by mail programs, without a session', async () => {
  for (const off of [
    async (path: string) => textOf(await ask('POST', path)),
    // A mail program, which says no origin.
    async (path: string) =>
      textOf(
        await ask('POST', path, {
          ...{ origin: 'https://mail.example.com', body: 'List-Unsubscribe=One-Click' },
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ),
  ]) {
    await choose();
    await morning();
    const { headers, text } = sent().at(-1) ?? { headers: {} as Sent['headers'], text: '' };
    const [, url = ''] = /^<(.*)>$/.exec(headers['List-Unsubscribe'] ?? '') ?? [];
    expect(text).toContain(url);
    expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    const path = addressIn(url);
    expect(await textOf(await ask('GET', path))).toContain('Turn off the daily summary?');
    expect((await ask('POST', `${path}x`)).status).toBe(404);
    expect(await due()).not.toBeNull();
    expect(await off(path)).toContain('The daily summary is off');
    expect(await due()).toBeNull();
  }
});

it('one that fails is tried again within the day, and the account’s suspension stops them', async () => {
  await choose();
  emails.send.mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'E_X' }));
  await morning();
  expect((await due()) ?? 0).toBeLessThanOrEqual(Date.now() + 3_600_000);
  await operator.patch(`/operator/accounts/${us.accountId}`, { status: 'suspended' });
  emails.send.mockClear();
  await morning();
  expect(sent()).toEqual([]);
});
