import { env } from 'cloudflare:workers';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { notifyOfSilence } from '#src/extras/providers/health-alerts.ts';
import {
  hourMs,
  keepEmails,
  personBefore,
  rows,
  unwoken,
  value,
  vehicle,
  worldBefore,
} from '#test/support.ts';

beforeEach(() => rows('delete from tokens'));
const us = worldBefore(beforeEach);
personBefore(beforeEach, us);

const health = async () =>
  (await us.api.get<{ healthStatus: number }[]>('/connections')).data[0]?.healthStatus;

const quiet = { ...env, DELIVERIES: unwoken };

/** A connector calls; when it did is noted behind the reply. */
async function send() {
  await us.send(vehicle());
  const used = () => value("select max(last_used_at) from tokens where scope = 'ingest'");
  await expect.poll(used).toBeGreaterThan(0);
}

it('becomes unavailable after a day without a call, and healthy with the next', async () => {
  const { sent } = keepEmails();
  const subjects = async () => {
    await sendMessages(env, Date.now() + 48 * hourMs);
    return sent().map(({ subject }) => subject);
  };
  await send();
  const now = Date.now();
  expect(await notifyOfSilence(quiet, now + 24 * hourMs)).toBe(0);
  expect(await notifyOfSilence(quiet, now + 26 * hourMs)).toBe(1);
  expect(await health()).toBe(3);
  expect(await subjects()).toEqual(['Motive is silent']);
  expect(await notifyOfSilence(quiet, now + 27 * hourMs)).toBe(0); // and people are told once
  expect(await notifyOfSilence(quiet, now + hourMs)).toBe(1);
  expect(await health()).toBe(1);
  expect(await subjects()).toEqual(['Motive is silent', 'Motive is sending again']);
});

it('is left alone while it has never sent anything', async () => {
  expect(await notifyOfSilence(quiet, Date.now() + 90 * 24 * hourMs)).toBe(0);
  expect(await health()).toBe(1);
});
