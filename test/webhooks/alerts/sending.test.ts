import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { minuteMs } from '../../../src/platform/durations.ts';
import { maxPerAccountAndDay, maxPerDay } from '../../../src/webhooks/alerts/mails.ts';
import { maxPeople, maxWaitingCounted } from '../../../src/webhooks/alerts/report.ts';
import { maxAccounts, maxNamed, sendAlerts } from '../../../src/webhooks/alerts/send.ts';
import { alertStory, fail, work } from '../../support/alerts.ts';
import { settled } from '../../support/deliveries.ts';
import { listenToLog } from '../../support/log.ts';
import { signIn } from '../../support/portal.ts';
import { addRows, addWebhooks, rows } from '../../support/rows.ts';
import { metered } from '../../support/runtime/meter.ts';
import { minute } from '../../support/service.ts';
import { as, operator, type WebhookOut, webhookBody, world } from '../../support/world.ts';

const story = alertStory();
const { tale, run, pass, mails, subjects, recipients } = story;

describe('an email goes to', () => {
  it('each person of the account who can sign in and has not turned it off', async () => {
    const [bob, carl] = [await signIn(tale.us), await signIn(tale.us)];
    await operator.post(`/operator/accounts/${tale.us.accountId}/users`, { email: 'invited@example.com' });
    await rows('update portal_users set gets_alerts = 0 where email = ?1', carl.email);
    await signIn(await world());
    await fail([(await tale.register()).id]);
    await run();
    await pass(15);
    expect(recipients()).toEqual([story.ann, bob.email].sort());
  });

  it('the first twenty people of an account', async () => {
    const people = await Promise.all(Array.from({ length: maxPeople }, () => signIn(tale.us)));
    const [last] = people;
    await rows('update portal_users set created_at = created_at + 1000000 where email = ?1', last?.email);
    const [busy = '', calm = ''] = await addWebhooks(tale.us.accountId, 2);
    for (const [webhook_id, count] of [
      [busy, maxWaitingCounted + 50],
      [calm, maxWaitingCounted - 1],
    ] as const)
      await addRows('deliveries', count, () => ({
        webhook_id,
        account_id: 'a',
        status: 'pending',
        next_attempt_at: 0,
      }));
    await fail([busy, calm]);
    await run();
    await pass(15);
    const others = people.slice(1).map(({ email }) => email);
    expect(recipients()).toEqual([story.ann, ...others].sort());
    expect(mails()[0]?.text).toContain(`Waiting: ${maxWaitingCounted} or more deliveries.`);
    expect(mails()[0]?.text).toContain(`Waiting: ${maxWaitingCounted - 1} deliveries.`);
  });

  it('nobody of a suspended account', async () => {
    await fail([(await tale.register()).id]);
    await run();
    await operator.patch(`/operator/accounts/${tale.us.accountId}`, { status: 'suspended' });
    await pass(20);
    expect(mails()).toEqual([]);
  });
});

describe('nobody is notified twice', () => {
  const duePause = async () => {
    await fail([(await tale.register()).id]);
    await run();
    story.now += 15 * minuteMs;
  };

  it('when the job runs twice at the same time', async () => {
    await duePause();
    await Promise.all([run(), run(), sendAlerts(env, story.now + 1)]);
    expect(mails()).toHaveLength(1);
  });

  it('when the job is killed before it has sent anything', async () => {
    await duePause();
    story.emails.send.mockImplementation(() => new Promise(() => {})); // the invocation ends here
    void run();
    await vi.waitFor(() => expect(mails()).toHaveLength(1));
    story.emails.send.mockResolvedValue({ messageId: '1' });
    await pass(120);
    expect(mails()).toHaveLength(1);
  });
});

describe('an email that cannot be sent', () => {
  it('is an error line without an address, and stops no other', async () => {
    const bob = await signIn(tale.us);
    await fail([(await tale.register()).id]);
    await run();
    const { raw, lines } = listenToLog();
    story.emails.send.mockImplementation(async (mail) => {
      if ('to' in mail && mail.to === story.ann)
        throw Object.assign(new Error(`cannot send to ${story.ann}`), { code: 'E_RECIPIENT_NOT_ALLOWED' });
      return { messageId: '1' };
    });
    await pass(15);
    expect(recipients()).toEqual([story.ann, bob.email].sort());
    expect(lines('fault')).toEqual([
      {
        level: 'error',
        kind: 'fault',
        message: 'An alert could not be sent',
        accountId: tale.us.accountId,
        alert: 'paused',
        code: 'E_RECIPIENT_NOT_ALLOWED',
      },
    ]);
    expect(raw.join()).not.toContain('@');
  });

  it('is not tried where the deployment sends no mail, and is not made up for later', async () => {
    const { lines } = listenToLog();
    const without = { ...env, EMAIL_FROM: undefined, EMAIL: undefined } as unknown as Env; // as deployed without
    await fail([(await tale.register()).id]);
    await run(without);
    await pass(16, without);
    await pass(60);
    expect(mails()).toEqual([]);
    expect(lines('fault')).toEqual([]);
  });

  it('for want of the portal’s address fails', async () => {
    await fail([(await tale.register()).id]);
    await run();
    const withoutOrigin = { ...env, ORIGIN: undefined } as unknown as Env; // as deployed without
    await expect(pass(15, withoutOrigin)).rejects.toThrow('ORIGIN is not set');
  });
});

it('the minute’s cron tells them', async () => {
  tale.heard.responds(() => new Response('', { status: 410 }));
  const hook = await tale.register();
  await tale.happen(1);
  await settled(hook.id, 1, ['failed']);
  await minute();
  await vi.waitFor(() => expect(subjects()).toEqual(['Deliveries to receiver.example.com have failed']));
});

it('of a webhook that is deleted meanwhile nothing is notified, and nothing is kept', async () => {
  const hook = await tale.register();
  await fail([hook.id]);
  await run();
  await as(tale.us.apiToken).delete(`/webhook/${hook.id}`);
  expect(await rows('select 1 from alerts')).toEqual([]);
  await pass(20);
  expect(mails()).toEqual([]);
});

describe('many webhooks', () => {
  it('of an account are one email, and do not keep another account waiting', async () => {
    const ours = await addWebhooks(tale.us.accountId, 1000);
    const them = await world();
    const { email: theirs } = await signIn(them);
    const { data } = await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    await fail(ours);
    await pass(1);
    await fail([data.id]);
    await pass(16);
    expect(mails()).toHaveLength(2);
    expect(mails()[0]).toMatchObject({ to: story.ann, subject: 'Deliveries to 1,000 webhooks are paused' });
    expect(mails()[0]?.text).toContain(`And ${1000 - maxNamed} other webhooks`);
    expect(mails()[1]).toMatchObject({
      to: theirs,
      subject: 'Deliveries to receiver.example.com are paused',
    });
  });

  it('of more accounts than are notified at a time go out in the same minute', async () => {
    const accounts = maxAccounts + 3;
    const ids = Array.from({ length: accounts }, () => newId());
    await addRows('accounts', accounts, (i) => ({ id: ids[i], name: 'Many' }));
    await addRows('portal_users', accounts, (i) => ({
      account_id: ids[i],
      email: `many-${i}@example.com`,
      confirmed_at: 0,
    }));
    const webhooks = await Promise.all(ids.map((id) => addWebhooks(id, 1)));
    await fail(webhooks.flat());
    await run();
    await pass(15);
    expect(new Set(mails().map(({ to }) => to)).size).toBe(accounts);
    await pass(90);
    expect(mails()).toHaveLength(accounts);
  });

  it('that have been failing for long cost next to nothing in a minute in which nothing changes', async () => {
    const ours = await addWebhooks(tale.us.accountId, 1000);
    await fail(ours);
    await rows(
      `insert into webhook_hours (webhook_id, slot, hour, delivered, failed)
       select value, 0, 0, 5, 5 from json_each(?1)`,
      JSON.stringify(ours),
    );
    await run();
    await pass(80);
    const { env: bindings, cost } = metered();
    await pass(1, bindings);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    expect(cost.read).toBeLessThanOrEqual(20);
  });
});

describe('the emails of a day', () => {
  const dayMs = 86_400_000;
  beforeEach(() => {
    story.now = Math.ceil(story.now / dayMs) * dayMs; // a day begins, so that what happens before the next day is in it
  });
  const sentToday = (accountId: string, sent: number) =>
    rows(
      'insert into alert_emails (account_id, day, sent) values (?1, ?2, ?3)',
      accountId,
      story.now / dayMs,
      sent,
    );

  it.each([
    ['an account', maxPerAccountAndDay, () => tale.us.accountId],
    ['a home', maxPerDay, newId],
  ])('of %s are limited, which is an error line, and the next day they are sent', async (_, most, whose) => {
    const { lines } = listenToLog();
    await sentToday(whose(), most - 1);
    const [one = '', other = ''] = await addWebhooks(tale.us.accountId, 2);
    await fail([one]);
    await run();
    await pass(15);
    expect(mails()).toHaveLength(1);
    await fail([other]);
    await pass(120);
    expect(mails()).toHaveLength(1);
    expect(lines('fault')).toMatchObject([{ message: 'Alerts are over the limit of the day', left: 1 }]);
    story.now += dayMs;
    await work([one, other]);
    await pass(20);
    expect(mails().length).toBeGreaterThan(1);
  });
});
