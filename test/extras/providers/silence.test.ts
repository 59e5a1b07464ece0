import { env } from 'cloudflare:workers';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { notifyOfSilence } from '#src/extras/providers/health-alerts.ts';
import { keepEmails } from '#test/support/emails.ts';
import { personBefore } from '#test/support/portal.ts';
import { vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { worldBefore } from '#test/support/world.ts';

const hour = 3_600_000;

beforeEach(() => rows('delete from tokens'));
const us = worldBefore(beforeEach);
personBefore(beforeEach, us);

const health = async () =>
  (await us.api.get<{ healthStatus: number }[]>('/connections')).data[0]?.healthStatus;

/** A connector calls; when it did is noted behind the reply. */
async function send() {
  await us.send(vehicle());
  const used = () => value("select max(last_used_at) from tokens where scope = 'ingest'");
  await expect.poll(used).toBeGreaterThan(0);
}

it('becomes unavailable after a day without a call, and healthy with the next', async () => {
  const { sent } = keepEmails();
  const subjects = async () => {
    await sendMessages(env, Date.now() + 48 * hour);
    return sent().map(({ subject }) => subject);
  };
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
