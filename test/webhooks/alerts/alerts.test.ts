import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { minuteMs } from '../../../src/platform/durations.ts';
import { minuteOf } from '../../../src/platform/times.ts';
import { maxNamed } from '../../../src/webhooks/alerts/alert-text.ts';
import { sendAlerts } from '../../../src/webhooks/alerts/alerts.ts';
import { maxPeople } from '../../../src/webhooks/alerts/messages.ts';
import { giveUpAfterMs } from '../../../src/webhooks/deliveries/policy.ts';
import { giveUp, sweep } from '../../../src/webhooks/deliveries/sweep.ts';
import { alertStory, fail } from '../../support/alerts.ts';
import { makeDue, settled } from '../../support/deliveries.ts';
import { signIn } from '../../support/portal.ts';
import { addWebhooks, rows } from '../../support/rows.ts';
import { metered } from '../../support/runtime/meter.ts';
import { minute } from '../../support/service.ts';
import { as, operator, type WebhookOut, webhookBody, world } from '../../support/world.ts';

const story = alertStory();
const { tale, run, pass, mails, subjects, recipients } = story;

/** A webhook whose receiver is paused, as the job has noticed. */
async function paused(): Promise<WebhookOut> {
  const hook = await tale.register();
  await fail([hook.id]);
  await run();
  return hook;
}

describe('a pause', () => {
  it('is notified with what the receiver does, and its end when a delivery has arrived', async () => {
    tale.heard.responds(() => new Response('', { status: 503 }));
    const hook = await tale.register();
    await tale.happen(5);
    await vi.waitFor(async () =>
      expect(await rows('select 1 from webhook_health where failures >= 5')).toHaveLength(1),
    );
    await run();
    await pass(15);
    expect(mails()[0]?.text).toMatch(
      new RegExp(
        'paused since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\. Your receiver returns 503 Service Unavailable\\. ' +
          `https://portal\\.example\\.com/portal/webhooks/${hook.id}\\n`,
      ),
    );
    tale.heard.responds(() => new Response('ok'));
    await makeDue(hook.id);
    await sweep(env);
    await settled(hook.id, 5, ['delivered']);
    await pass(1);
    expect(subjects().slice(1)).toEqual(['Deliveries to receiver.example.com arrive again']);
  });
});

describe('failed deliveries', () => {
  /** Has so many events fail for good. */
  const failForGood = async (hook: WebhookOut, count: number, prefix: string, inAll: number) => {
    tale.heard.responds(() => new Response('', { status: 410 }));
    await tale.happen(count, prefix);
    await settled(hook.id, inAll, ['failed']);
  };

  it('are notified by the minute’s cron, and those of the next hour together when it is over', async () => {
    const hook = await tale.register();
    await failForGood(hook, 2, 'a', 2);
    await minute();
    await vi.waitFor(() => expect(subjects()).toEqual(['Deliveries to receiver.example.com have failed']));
    expect(mails()[0]?.text).toMatch(
      /2 deliveries failed since .* UTC\. Your receiver returns 410 Gone\. https:/,
    );
    await failForGood(hook, 1, 'b', 3);
    const noticed = minuteOf(story.now + minuteMs);
    await pass(30);
    await rows('update webhook_hours set hour = hour - 720'); // their counter comes round again
    await failForGood(hook, 1, 'c', 4);
    await pass(28);
    expect(mails()).toHaveLength(1);
    await pass(4);
    expect(mails()).toHaveLength(2);
    expect(mails()[1]?.text).toContain(`2 deliveries failed since ${noticed}.`);
    await pass(120);
    expect(mails()).toHaveLength(2);
  });

  it('that nobody attempted for five days are notified too', async () => {
    const hook = await tale.register();
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       values (?1, ?2, ?3, 'e', 0, 'pending', 0)`,
      hook.id,
      newId(),
      tale.us.accountId,
    );
    expect(await giveUp(env, giveUpAfterMs)).toBe(1);
    await run();
    expect(mails()[0]?.text).toMatch(/1 delivery failed since .* UTC\. https:/);
  });
});

describe('an alert goes to', () => {
  it('the first twenty people of the account who can sign in and have not turned it off', async () => {
    const people = await Promise.all(Array.from({ length: maxPeople + 1 }, () => signIn(tale.us)));
    await operator.post(`/operator/accounts/${tale.us.accountId}/users`, { email: 'invited@example.com' });
    const [last, off, ...others] = people.map(({ email }) => email);
    await rows('update portal_users set created_at = created_at + 1000000 where email = ?1', last);
    await rows('update portal_users set gets_alerts = 0 where email = ?1', off);
    await signIn(await world());
    await paused();
    await pass(15);
    expect(recipients()).toEqual([story.ann, ...others].sort());
  });

  it('nobody of a suspended account, and nobody where a webhook was deleted', async () => {
    const hook = await paused();
    await operator.patch(`/operator/accounts/${tale.us.accountId}`, { status: 'suspended' });
    await pass(20);
    await operator.patch(`/operator/accounts/${tale.us.accountId}`, { status: 'active' });
    await as(tale.us.apiToken).delete(`/webhook/${hook.id}`);
    expect(await rows('select 1 from alerts')).toEqual([]);
    await pass(20);
    expect(mails()).toEqual([]);
  });
});

it('is notified once when the job runs twice at the same time', async () => {
  await paused();
  story.now += 15 * minuteMs;
  await Promise.all([run(), run(), sendAlerts(env, story.now + 1)]);
  await pass(1);
  expect(mails()).toHaveLength(1);
});

describe('many webhooks', () => {
  it('of an account are one message, and do not keep another account waiting', async () => {
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
    expect(mails()[1]).toMatchObject({ to: theirs });
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
    await sendAlerts(bindings, story.now + minuteMs);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    expect(cost.read).toBeLessThanOrEqual(20);
  });
});
