import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { config } from '../../../src/platform/config.ts';
import { seal } from '../../../src/platform/crypto.ts';
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

it.each([
  ['answers at once', async () => new Response(), 1],
  ['does not answer', () => new Promise<never>(() => {}), 10],
])('a receiver that %s soon tells how many workers a window of fifty is for', async (_, answer, workers) => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(answer);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now()); // an answer takes no time, however slow the machine is
  const calls = callsOf(env, 'ours', 'hook');
  const headers = await seal(config(env).headerKeys, 'hook', {});
  const settings = JSON.stringify({ headers, url: 'https://localhost', httpVerb: 'POST' });
  const webhook = { settings } as ClaimedWebhook; // all that a call needs
  const delivery = { id: 'd', attempts: 0, type: 2, data: '{}', wanted: true } as Claimed;
  calls.start(webhook, [delivery, delivery], Date.now() + 1000);
  expect(calls.workersFor(50)).toBe(10);
  const waited = await Promise.race([calls.paceKnown(), scheduler.wait(5000).then(() => 'in vain')]);
  expect(waited).toBeUndefined();
  expect(calls.workersFor(50)).toBe(workers);
  expect([calls.workersFor(3), calls.workersFor(1)]).toEqual([1, 1]);
});
