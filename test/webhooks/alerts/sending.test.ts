import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { maxAccounts, maxNamed, sendAlerts } from '../../../src/webhooks/alerts/send.ts';
import { alertStory, fail, minuteMs } from '../../support/alerts.ts';
import { minute, settled } from '../../support/deliveries.ts';
import { listenToLog } from '../../support/log.ts';
import { metered } from '../../support/meter.ts';
import { signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { as, operator, type WebhookOut, type World, webhookBody, world } from '../../support/world.ts';

const told = alertStory();
const { tale, run, pass, mails, subjects, recipients } = told;

/** Puts webhooks of an account into the table. */
const addWebhooks = async ({ accountId }: World, count: number): Promise<string[]> => {
  const prefix = newId().slice(0, 24);
  await rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?3)
     insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
     select ?1 || printf('%012x', i), ?2, 'https://r' || i || '.example.com/', i, 'POST', '{}', 3, 0 from n`,
    prefix,
    accountId,
    count,
  );
  const made = await rows('select id from webhooks where id like ?1 order by id', `${prefix}%`);
  return made.map(({ id }) => String(id));
};

describe('an email goes to', () => {
  it('each person of the account who can sign in and has not turned it off', async () => {
    const [bob, carl] = [await signIn(tale.us), await signIn(tale.us)];
    await operator.post(`/operator/accounts/${tale.us.accountId}/users`, { email: 'invited@example.com' });
    await rows('update portal_users set gets_alerts = 0 where email = ?1', carl.email);
    await signIn(await world());
    await fail([(await tale.register()).id]);
    await run();
    await pass(15);
    expect(recipients()).toEqual([told.ann, bob.email].sort());
  });

  it('nobody of a suspended account', async () => {
    await fail([(await tale.register()).id]);
    await run();
    await operator.patch(`/operator/accounts/${tale.us.accountId}`, { status: 'suspended' });
    await pass(20);
    expect(mails()).toEqual([]);
  });
});

describe('nobody is told twice', () => {
  const duePause = async () => {
    await fail([(await tale.register()).id]);
    await run();
    told.now += 15 * minuteMs;
  };

  it('when the job runs twice at the same time', async () => {
    await duePause();
    await Promise.all([run(), run(), sendAlerts(env, told.now + 1)]);
    expect(mails()).toHaveLength(1);
  });

  it('when the job is killed before it has sent anything', async () => {
    await duePause();
    told.send.mockImplementation(() => new Promise(() => {})); // the invocation ends here
    void run();
    await vi.waitFor(() => expect(mails()).toHaveLength(1));
    told.send.mockResolvedValue({ messageId: '1' });
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
    told.send.mockImplementation(async (mail) => {
      if ('to' in mail && mail.to === told.ann)
        throw Object.assign(new Error(`cannot send to ${told.ann}`), { code: 'E_RECIPIENT_NOT_ALLOWED' });
      return { messageId: '1' };
    });
    await pass(15);
    expect(recipients()).toEqual([told.ann, bob.email].sort());
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

  it('for want of the portal’s address is an error line', async () => {
    await fail([(await tale.register()).id]);
    await run();
    const { lines } = listenToLog();
    await pass(15, { ...env, ORIGIN: undefined } as unknown as Env); // as deployed without
    expect(lines('fault')).toMatchObject([{ level: 'error', message: 'Alerts were interrupted' }]);
  });
});

it('a failure of D1 stops the alerts of that minute, and nothing else', async () => {
  const { lines } = listenToLog();
  const DB = { prepare: env.DB.prepare.bind(env.DB), batch: () => Promise.reject(new Error('no')) };
  expect(await run({ ...env, DB } as unknown as Env)).toBe(0); // all that it uses
  expect(lines('fault')).toMatchObject([{ level: 'error', message: 'Alerts were interrupted' }]);
});

it('the minute’s cron tells them', async () => {
  tale.heard.answers(() => new Response('', { status: 410 }));
  const hook = await tale.register();
  await tale.happen(1);
  await settled(hook.id, 1, ['failed']);
  await minute();
  expect(subjects()).toEqual(['Deliveries to receiver.example.com have failed']);
});

it('of a webhook that is deleted meanwhile nothing is told, and nothing is kept', async () => {
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
    const ours = await addWebhooks(tale.us, 1000);
    const them = await world();
    const { email: theirs } = await signIn(them);
    const { data } = await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    await fail(ours);
    await pass(1);
    await fail([data.id]);
    await pass(16);
    expect(mails()).toHaveLength(2);
    expect(mails()[0]).toMatchObject({ to: told.ann, subject: 'Deliveries to 1,000 webhooks are paused' });
    expect(mails()[0]?.text).toContain(`And ${1000 - maxNamed} other webhooks`);
    expect(mails()[1]).toMatchObject({
      to: theirs,
      subject: 'Deliveries to receiver.example.com are paused',
    });
  });

  it('of more accounts than fit into a minute are told in the next', async () => {
    const accounts = maxAccounts + 3;
    await rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1)
       insert into accounts (id, name, created_at) select 'many-' || i, 'Many', 0 from n`,
      accounts,
    );
    await rows(
      `insert into portal_users (id, account_id, email, created_at, confirmed_at)
       select id, id, id || '@example.com', 0, 0 from accounts where id like 'many-%'`,
    );
    await rows(
      `insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
       select id, id, 'https://' || id || '.example.com/', id, 'POST', '{}', 3, 0 from accounts where id like 'many-%'`,
    );
    await fail((await rows(`select id from webhooks where id like 'many-%'`)).map(({ id }) => String(id)));
    await run();
    await pass(15);
    expect(mails()).toHaveLength(maxAccounts);
    await pass(1);
    expect(new Set(mails().map(({ to }) => to)).size).toBe(accounts);
    await pass(90);
    expect(mails()).toHaveLength(accounts);
  });

  it('that have been failing for long cost next to nothing in a minute in which nothing changes', async () => {
    const ours = await addWebhooks(tale.us, 1000);
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

it('to tell of a thousand pauses at once takes two round trips, and rows in proportion', async () => {
  const ours = await addWebhooks(tale.us, 1000);
  await fail(ours);
  await run();
  told.now += 60 * minuteMs;
  const { env: bindings, cost } = metered();
  await run(bindings);
  expect(cost.trips).toBe(2);
  expect(cost.read).toBeLessThanOrEqual(20_000);
  expect(cost.written).toBeLessThanOrEqual(3000);
});
