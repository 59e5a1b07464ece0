import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { sendAlerts } from '../../../src/webhooks/alerts/send.ts';
import { signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { type World, world } from '../../support/world.ts';
import { type Hits, hourMs, minuteMs, times } from './setting.ts';

export const alertHits: Hits = {
  'time that a receiver is paused before we email': async (minutes) => {
    await forget();
    const [them] = await accounts(1);
    await addFailing(them, 1);
    await run(0);
    await run(minutes * minuteMs - 1);
    expect(sent).toEqual([]);
    await run(minutes * minuteMs);
    expect(sent).toHaveLength(1);
  },
  'emails of a kind about a webhook': async (hourly) => {
    await forget();
    const [them] = await accounts(1);
    await addFailing(them, 1);
    const failAgain = () => rows('update webhook_hours set failed = failed + 1');
    await failAgain();
    await run(1);
    expect(sent).toHaveLength(hourly);
    await failAgain();
    await run(hourMs);
    expect(sent.filter(({ subject }) => subject.includes('failed'))).toHaveLength(hourly);
    await run(hourMs + 1);
    expect(sent.filter(({ subject }) => subject.includes('failed'))).toHaveLength(hourly + 1);
  },
  'people of an account who are emailed': async (limit) => {
    await forget();
    const them = await world();
    const people = await Promise.all(times(limit + 1, () => signIn(them)));
    await rows('update portal_users set created_at = 0 where email <> ?1', people[0]?.email);
    await addFailing(them, 1);
    await tellPauses();
    expect(sent.map(({ to }) => to).sort()).toEqual(
      people
        .slice(1)
        .map(({ email }) => email)
        .sort(),
    );
  },
  'webhooks that an email names': async (limit) => {
    await forget();
    const [them] = await accounts(1);
    await addFailing(them, limit + 1);
    await tellPauses();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.text.match(/\/portal\/webhooks\/\w/g)).toHaveLength(limit);
    expect(sent[0]?.text).toContain('And 1 other webhook:');
  },
  'waiting deliveries that an email counts': async (limit) => {
    await forget();
    const [them] = await accounts(1);
    const [few = '', many = ''] = await addFailing(them, 2);
    await addPending(few, limit - 1);
    await addPending(many, limit + 50);
    await tellPauses();
    expect(sent[0]?.text).toContain(`Waiting: ${limit - 1} deliveries.`);
    expect(sent[0]?.text).toContain(`Waiting: ${limit} or more deliveries.`);
    await rows('delete from deliveries');
  },
  'accounts that are emailed in a minute': async (limit) => {
    await forget();
    for (const them of await accounts(limit + 1)) await addFailing(them, 1);
    await tellPauses();
    expect(sent).toHaveLength(limit);
    await run(hourMs + minuteMs);
    expect(sent).toHaveLength(limit + 1);
  },
  'webhooks whose changes are noticed in a minute': async (limit) => {
    await forget();
    const [them] = await accounts(1);
    await addFailing(them, limit + 1);
    const noticed = () => rows('select 1 from webhook_health where paused_since is not null');
    const lookedAt = () => rows('select 1 from alerts where due_at > 1');
    await run(0);
    expect([(await noticed()).length, (await lookedAt()).length]).toEqual([limit, limit]);
    await run(1);
    expect([(await noticed()).length, (await lookedAt()).length]).toEqual([limit + 1, limit + 1]);
    await run(hourMs);
    await run(hourMs + 1);
    expect(sent.map(({ subject }) => subject)).toEqual([
      `Deliveries to ${limit.toLocaleString('en-US')} webhooks are paused`,
      'Deliveries to receiver.example.com are paused',
    ]);
    await forget();
  },
};

type Mail = { to: string; subject: string; text: string };

/** What has been emailed since the test began. */
let sent: Mail[] = [];
const bindings: Env = {
  ...env,
  EMAIL: { send: async (mail: Mail) => sent.push(mail) } as unknown as Env['EMAIL'], // all that mail.ts uses
};
const run = (now: number) => sendAlerts(bindings, now);

/** Forgets whatever has failed and has been emailed so far. */
async function forget() {
  sent = [];
  for (const table of ['alerts', 'webhook_health', 'webhook_hours']) await rows(`delete from ${table}`);
}

/** Opens accounts with a person each. */
const accounts = async (count: number): Promise<[World, ...World[]]> => {
  const [first, ...others] = await Promise.all(times(count, () => world()));
  if (!first) throw new Error('there is at least one');
  await Promise.all([first, ...others].map((them) => signIn(them)));
  return [first, ...others];
};

/** Adds webhooks whose circuit is open. */
async function addFailing({ accountId }: World, count: number): Promise<string[]> {
  const ids = times(count, newId);
  await rows(
    `insert into webhooks (id, account_id, url, normalised_url, http_verb, headers, notification_types, created_at)
     select value, ?2, 'https://receiver.example.com/', value, 'POST', '{}', 3, 0 from json_each(?1)`,
    JSON.stringify(ids),
    accountId,
  );
  await rows(
    `insert into webhook_health (webhook_id, failures, openings, open_until)
     select value, 5, 1, 0 from json_each(?1)`,
    JSON.stringify(ids),
  );
  await rows(
    `insert into webhook_hours (webhook_id, slot, hour, delivered, failed)
     select value, 0, 0, 0, 0 from json_each(?1)`,
    JSON.stringify(ids),
  );
  return ids;
}

/** Notices pauses, and tells them an hour later. */
async function tellPauses() {
  await run(0);
  await run(hourMs);
}

const addPending = (webhookId: string, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
     insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
     select ?1, 'd' || i, 'a', 'e', 0, 'pending', 0 from n`,
    webhookId,
    count,
  );
