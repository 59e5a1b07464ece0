import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { giveUpAfterMs, pausedAfterMs } from '#src/core/webhooks/deliveries/policy.ts';
import { giveUp, sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import { alertsAreDue, quietMs, sendAlerts } from '#src/extras/alerts/alerts.ts';
import { maxNamed, maxPeople } from '#src/extras/alerts/pending.ts';
import {
  addRow,
  addRows,
  addWebhooks,
  changeAccount,
  makeDue,
  metered,
  minute,
  minuteMs,
  newId,
  openDatabase,
  register as registerOf,
  rows,
  settled,
  signIn,
  through,
  times,
  transaction,
  type WebhookOut,
  world,
} from '#test/support.ts';
import { alertStory, fail } from './support.ts';

const { us, heard, register, happen, ann, time, run, pass, mails, subjects } = alertStory();

async function paused(more = {}) {
  const hook = await register(more);
  await fail([hook.id], time.now);
  return hook;
}
const [quiet, untilTold] = [quietMs / minuteMs, pausedAfterMs / minuteMs];
const subjectOf = (what: string) => `Deliveries to receiver.example.com ${what}`;
describe('a pause', () => {
  it('is notified with what the receiver does, and its end when a delivery has arrived', async () => {
    heard.returns(503);
    const hook = await register();
    await happen(5);
    const failing = () => rows('select 1 from webhook_health where failures >= 5');
    await expect.poll(failing).toHaveLength(1);
    await pass(untilTold - 1);
    expect(mails()).toEqual([]);
    await pass(2);
    expect(mails()[0]?.text).toMatch(
      new RegExp(
        'paused since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\. Your receiver returns 503 Service Unavailable\\. ' +
          `https://portal\\.example\\.com/portal/webhooks/${hook.id}\\n`,
      ),
    );
    heard.returns(200);
    await makeDue(hook.id);
    await sweep(env);
    await settled(hook.id, 5, 'delivered');
    await pass(1);
    expect(subjects().slice(1)).toEqual([subjectOf('arrive again')]);
  });

  it('is notified once, and the next one when the hour after that is over', async () => {
    const { id } = await paused({ url: 'https://receiver.example.com/secret?secret' });
    await pass(2 * quiet);
    await fail([id], null);
    await pass(1);
    await fail([id], time.now);
    await pass(untilTold);
    await fail([id], null);
    await pass(30);
    const told = ['are paused', 'arrive again', 'are paused'].map(subjectOf);
    expect(subjects()).toEqual(told);
    await pass(30);
    expect(subjects()).toEqual([...told, subjectOf('arrive again')]);
    expect(JSON.stringify(mails())).not.toContain('secret');
  });

  it('that is over before anybody was notified is not', async () => {
    const { id } = await paused();
    await pass(untilTold - 1);
    await fail([id], null);
    await pass(quiet);
    expect(mails()).toEqual([]);
  });
});

let failed = 0;
const failForGood = async ({ id }: WebhookOut, inAll: number) => {
  heard.returns(410);
  await happen(1, `failed ${failed++} `);
  await settled(id, inAll, 'failed');
};

it('failed deliveries are notified by the minute’s cron, and those of the next hour together', async () => {
  const hook = await register();
  const texts = () => mails().map(({ text }) => text);
  await failForGood(hook, 1);
  await minute();
  await expect.poll(subjects).toEqual([subjectOf('have failed')]);
  expect(texts()[0]).toMatch(
    /1 delivery failed for good\. Your receiver returns 410 Gone\. https:/,
  );
  await failForGood(hook, 2);
  await pass(30);
  await failForGood(hook, 3);
  await pass(28);
  expect(mails()).toHaveLength(1);
  await pass(4);
  expect(texts().slice(1)).toEqual([expect.stringContaining('2 deliveries failed for good.')]);
  await rows('update webhook_hours set hour = hour - 720'); // their counter comes round again
  await failForGood(hook, 4);
  await pass(120);
  expect(texts().slice(2)).toEqual([expect.stringContaining('1 delivery failed for good.')]);
});

it('failed deliveries that nobody attempted for five days are notified too', async () => {
  const { id } = await register();
  const ours = { webhook_id: id, account_id: us.accountId };
  await addRow('deliveries', { ...ours, status: 'pending', next_attempt_at: 0 });
  expect(await giveUp(env, giveUpAfterMs - 1)).toBe(0);
  expect(await giveUp(env, giveUpAfterMs)).toBe(1);
  await run();
  expect(mails()[0]?.text).toMatch(/1 delivery failed for good\. https:/);
});

describe('an alert goes to', () => {
  it('the first twenty people of the account who can sign in and have not turned it off', async () => {
    const people = await Promise.all(times(maxPeople + 1, () => signIn(us)));
    await addRow('portal_users', { account_id: us.accountId, email: 'invited@example.com' });
    const [last, off, ...others] = people.map(({ email }) => email);
    await rows('update portal_users set created_at = created_at + 1000000 where email = ?1', last);
    await rows('update portal_users set gets_alerts = 0 where email = ?1', off);
    await signIn(await world());
    await paused();
    await pass(15);
    const recipients = mails().map(({ to }) => to);
    expect(recipients.sort()).toEqual([ann.email, ...others].sort());
  });

  it('nobody of a suspended account, and nobody where a webhook was deleted', async () => {
    const { id } = await paused();
    await changeAccount(us, { status: 'suspended' });
    await pass(20);
    await changeAccount(us, { status: 'active' });
    await us.api.delete(`/webhook/${id}`);
    await pass(20);
    expect(mails()).toEqual([]);
  });
});

it('is notified once when runs of the job overlap, as after a lost lease', async () => {
  await paused();
  const later = time.now + pausedAfterMs;
  await Promise.allSettled([0, 0, 1].map((ms) => sendAlerts(env, later + ms)));
  await pass(untilTold + 1);
  expect(mails()).toHaveLength(1);
});

describe('many webhooks', () => {
  it('of an account are one message, and do not keep another account waiting', async () => {
    const ours = await addWebhooks(us.accountId, 1000);
    const them = await world();
    const { email: to } = await signIn(them);
    const theirs = await registerOf(them);
    await fail([...ours, theirs.id], time.now);
    await pass(16);
    const subject = 'Deliveries to 1,000 webhooks are paused';
    const text = expect.stringContaining(`And ${1000 - maxNamed} more`);
    const mailed = mails().toSorted((a) => (a.to === ann.email ? -1 : 1));
    expect(mailed).toMatchObject([{ to: ann.email, subject, text }, { to }]);
  });

  it('of many accounts are notified in steps of few rows and short parameters', async () => {
    await rows('update portal_users set gets_alerts = 0');
    const accounts = times(30, () => newId());
    await addRows('accounts', 30, (i) => ({ id: accounts[i], status: 'active' }));
    const of = (i: number) => ({ account_id: accounts[i % 30] });
    const channel = { kind: 'https', address: '{}', gets_alerts: 1 };
    await addRows('alert_channels', 300, (i) => ({ ...of(i), ...channel }));
    await addRows('portal_users', 600, (i) => ({ ...of(i), email: `${i}`, confirmed_at: 1 }));
    const hooks = await Promise.all(accounts.map((id) => addWebhooks(id, 10)));
    await fail(hooks.flat(), time.now);
    const { env: bindings, cost } = metered();
    let longest = 0;
    const DB = through(bindings.DB, async (run, statements) => {
      const before = cost.written;
      const result = await run();
      longest = Math.max(longest, cost.written - before);
      for (const value of statements.flatMap(({ values }) => values))
        expect(String(value).length).toBeLessThan(100_000);
      return result;
    });
    await sendAlerts({ ...bindings, DB }, time.now + pausedAfterMs);
    expect(await rows('select 1 from alert_messages')).toHaveLength(900);
    expect(longest).toBeLessThan(5_000);
  });

  it('that have been failing for long cost next to nothing while nothing changes', async () => {
    const ours = await addWebhooks(us.accountId, 1000);
    await fail(ours, time.now);
    await addRows('webhook_hours', 1000, (i) => ({ webhook_id: ours[i], delivered: 5, failed: 5 }));
    await run();
    await pass(80);
    const { env: bindings, cost } = metered();
    const db = openDatabase(bindings);
    const isDue = db.all(sql`select ${alertsAreDue(time.now + minuteMs)} as due`);
    expect(await transaction(db, isDue)).toEqual([{ due: 0 }]);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    expect(cost.read).toBeLessThanOrEqual(20);
  });
});
