import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { laneCalls } from '../../src/deliveries/calls.ts';
import type { Claimed, ClaimedWebhook } from '../../src/deliveries/claim.ts';

it.each([true, false])(
  'calls that end while D1 is busy are recorded at once, in time (%s) or not',
  async (inTime) => {
    const calls = laneCalls(env, 'ours', 'hook');
    const webhook = { headers: { iv: '' }, url: 'https://localhost' } as ClaimedWebhook; // nothing of it is called
    const unwanted = { id: 'd', attempts: 0, type: 2, data: '{}', wanted: false } as Claimed;
    calls.start(webhook, [unwanted, unwanted], Date.now() + 1000);
    await scheduler.wait(20);
    expect(calls.idle()).toBe(false);
    const waited = await Promise.race([calls.progress(inTime), scheduler.wait(300).then(() => 'in vain')]);
    expect(waited).toBeUndefined();
    expect(calls.takeFinished()).toHaveLength(2);
  },
);
