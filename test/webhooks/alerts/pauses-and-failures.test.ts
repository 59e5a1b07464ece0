import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { minuteMs } from '../../../src/platform/durations.ts';
import { minuteOf } from '../../../src/platform/times.ts';
import { giveUpAfterMs } from '../../../src/webhooks/deliveries/policy.ts';
import { giveUp, sweep } from '../../../src/webhooks/deliveries/sweep.ts';
import { alertStory, fail } from '../../support/alerts.ts';
import { makeDue, settled } from '../../support/deliveries.ts';
import { rows } from '../../support/rows.ts';
import type { WebhookOut } from '../../support/world.ts';

const story = alertStory();
const { tale, run, pass, mails, subjects } = story;

/** A webhook that the failures of so many events have paused, as the job has noticed. */
async function paused(events: number) {
  tale.heard.responds(() => new Response('', { status: 503 }));
  const hook = await tale.register();
  await tale.happen(events);
  await vi.waitFor(async () =>
    expect(await rows('select 1 from webhook_health where failures >= 5')).toHaveLength(1),
  );
  await run();
  return hook;
}

describe('a pause', () => {
  it('is notified once it has lasted 15 minutes, and once only', async () => {
    const hook = await tale.register();
    await fail([hook.id]);
    await run();
    await pass(14);
    expect(mails()).toEqual([]);
    await pass(1);
    expect(subjects()).toEqual(['Deliveries to receiver.example.com are paused']);
    await pass(150);
    expect(mails()).toHaveLength(1);
  });

  it('is notified with what the receiver does, and how much is waiting', async () => {
    const hook = await paused(6);
    await pass(15);
    expect(mails()[0]?.text).toMatch(
      new RegExp(
        `paused since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\. Your receiver returns 503 Service Unavailable\\. Waiting: 6 deliveries\\. ` +
          `https://portal\\.example\\.com/portal/webhooks/${hook.id}\\n`,
      ),
    );
  });

  it('is notified with the last failure also when nothing that waits has been attempted', async () => {
    const hook = await tale.register();
    await fail([hook.id]);
    await rows(`update webhook_health set last_failure = '{"result":"timeout"}'`);
    await run();
    await pass(15);
    expect(mails()[0]?.text).toContain('Your receiver does not respond within 15 s. Nothing is waiting.');
  });
});

describe('that a receiver works again', () => {
  it('is notified when a delivery has arrived', async () => {
    const hook = await paused(5);
    await pass(15);
    tale.heard.responds(() => new Response('ok'));
    await makeDue(hook.id);
    await sweep(env);
    await settled(hook.id, 5, ['delivered']);
    await pass(1);
    expect(subjects().slice(1)).toEqual(['receiver.example.com works again']);
    expect(mails()[1]?.text).toContain('Nothing is waiting.');
  });
});

describe('failed deliveries', () => {
  /** Has so many events fail for good. */
  const failForGood = async (hook: WebhookOut, count: number, prefix: string, inAll: number) => {
    tale.heard.responds(() => new Response('', { status: 410 }));
    await tale.happen(count, prefix);
    await settled(hook.id, inAll, ['failed']);
  };

  it('are notified within a minute, with how many and what the receiver does', async () => {
    const hook = await tale.register();
    await failForGood(hook, 3, 'a', 3);
    await run();
    expect(subjects()).toEqual(['Deliveries to receiver.example.com have failed']);
    expect(mails()[0]?.text).toMatch(
      /3 deliveries failed since .* UTC\. Your receiver returns 410 Gone\. https:/,
    );
  });

  it('within an hour of that are notified together, when the hour is over', async () => {
    const hook = await tale.register();
    await failForGood(hook, 1, 'a', 1);
    await run();
    await failForGood(hook, 2, 'b', 3);
    const noticed = minuteOf(story.now + minuteMs);
    await pass(30);
    await failForGood(hook, 1, 'c', 4);
    await pass(29);
    expect(mails()).toHaveLength(1);
    await pass(1);
    expect(mails()).toHaveLength(2);
    expect(mails()[1]?.text).toContain(`3 deliveries failed since ${noticed}.`);
    await pass(120);
    expect(mails()).toHaveLength(2);
  });

  it('are notified also when the counter of their hour comes round again', async () => {
    const hook = await tale.register();
    await failForGood(hook, 3, 'a', 3);
    await run();
    await rows('update webhook_hours set hour = hour - 720');
    await failForGood(hook, 1, 'b', 4);
    await pass(61);
    expect(mails()[1]?.text).toContain('1 delivery failed');
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
