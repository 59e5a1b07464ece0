import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { callsOf } from '../../../src/webhooks/deliveries/calls.ts';
import type { Claimed, ClaimedWebhook } from '../../../src/webhooks/deliveries/claim.ts';

it.each([true, false])(
  'calls that end while D1 is busy are recorded at once, in time (%s) or not',
  async (inTime) => {
    const calls = callsOf(env, 'ours', 'hook');
    const settings = JSON.stringify({ url: 'https://localhost', headers: {} }); // nothing of it is called
    const webhook = { settings } as ClaimedWebhook;
    const unwanted = { id: 'd', attempts: 0, type: 2, data: '{}', wanted: false } as Claimed;
    calls.start(webhook, [unwanted, unwanted], Date.now() + 1000);
    await scheduler.wait(20);
    expect(calls.idle()).toBe(false);
    const waited = await Promise.race([calls.progress(inTime), scheduler.wait(300).then(() => 'in vain')]);
    expect(waited).toBeUndefined();
    expect(calls.takeFinished()).toHaveLength(2);
  },
);
