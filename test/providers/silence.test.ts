import { env } from 'cloudflare:workers';
import { notifyOfSilence } from '../../src/providers/health-alerts.ts';
import { sendMessages } from '../../src/webhooks/alerts/sending.ts';
import { keepEmails } from '../support/emails.ts';
import { signIn } from '../support/portal.ts';
import { vehicle } from '../support/records.ts';
import { rows } from '../support/rows.ts';
import { type World, world } from '../support/world.ts';

const hour = 3_600_000;

let us: World;
let emails: ReturnType<typeof keepEmails>;
async function subjects() {
  await sendMessages(env, Date.now() + 48 * hour);
  return emails.sent().map(({ subject }) => subject);
}

beforeEach(async () => {
  await rows('delete from tokens');
  us = await world();
  await signIn(us);
  emails = keepEmails();
});

const health = async () =>
  (await us.api.get<{ healthStatus: number }[]>('/connections')).data[0]?.healthStatus;

/** A connector calls; when it did is noted behind the reply. */
async function send() {
  await us.send(vehicle());
  await vi.waitFor(async () => {
    const [used] = await rows("select max(last_used_at) as at from tokens where scope = 'ingest'");
    expect(used?.at).toBeGreaterThan(0);
  });
}

it('becomes unavailable after a day without a call, and healthy with the next', async () => {
  await send();
  const now = Date.now();
  expect(await notifyOfSilence(env, now + 24 * hour)).toBe(0);
  expect(await notifyOfSilence(env, now + 26 * hour)).toBe(1);
  expect(await health()).toBe(3);
  expect(await subjects()).toEqual(['Motive is silent']);
  expect(await notifyOfSilence(env, now + 27 * hour)).toBe(0); // and people are told once
  expect(await notifyOfSilence(env, now + hour)).toBe(1);
  expect(await health()).toBe(1);
  expect(await subjects()).toEqual(['Motive is silent', 'Motive is sending again']);
});

it('is left alone while it has never sent anything', async () => {
  expect(await notifyOfSilence(env, Date.now() + 90 * 24 * hour)).toBe(0);
  expect(await health()).toBe(1);
});
