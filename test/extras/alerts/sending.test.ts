import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import type { AlertMessage } from '#src/extras/alerts/call.ts';
import { addNews, maxNamed, type NewsKind } from '#src/extras/alerts/pending.ts';
import {
  leastEmailsPerAccount,
  maxEmailsPerDay,
  maxPerAccountAndDay,
  retryMs,
  sendMessages,
} from '#src/extras/alerts/sending.ts';
import { emailSignInLinks } from '#src/portal/sign-in/sign-in.tsx';
import { alertStory } from '#test/extras/alerts/support.ts';
import { listenToLog } from '#test/support/log.ts';
import { signIn } from '#test/support/portal.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { world } from '#test/support/world.ts';

const { us, heard, ann, emails } = alertStory();
const url = 'https://hooks.example.com/services/T0/B0/SECRETabcd';
const other = 'https://other.example.com/x';
const now = Date.now();
const today = Math.floor(now / dayMs);

let annId: string;
beforeEach(async () => {
  annId = await idOf(ann.email);
  heard.responds((call) => new Response('', { status: call.url === url ? 500 : 200 }));
});

const idOf = (email: string) =>
  value<string>('select id from portal_users where email = ?1', email);

async function channel(to = url): Promise<string> {
  const fields = { kind: 'https', name: 'Ops', url: to, alerts: 'yes' };
  const reply = await ann.post('/portal/settings/notifications/channels/new', fields);
  return reply.headers.get('location')?.split('/').at(-1) ?? '';
}

type News = { to: string[]; kind?: NewsKind; accountId?: string; at?: number };

/** Adds news of a connection with each name, whose job does not come by itself. */
async function add(
  names: string[],
  { to, kind = 'connection', accountId = us.accountId, at = now }: News,
) {
  const db = openDatabase(env);
  const items = names.map((name) => ({ id: name, name, subject: 'is late', text: 'Text.' }));
  const news = sql`(
    select ${accountId} as account_id, r.value as recipient_id, i.value as item
    from json_each(${JSON.stringify(items)}) i cross join json_each(${JSON.stringify(to)}) r)`;
  await transaction(db, [addNews(env, db, kind, news, at)]);
}
/** The bindings with a queue that delivers nothing, so that no job runs beside the one that a test runs. */
const quiet: Env = {
  ...env,
  DELIVERIES: { send: async () => {}, sendBatch: async () => {} } as never,
};
const later = (ms = 0) => sendMessages(quiet, now + ms);

const subjects = (to = url) =>
  heard.got
    .filter((call) => call.url === to)
    .map(({ body }) => (body as object as AlertMessage).subject);
const waiting = () => rows('select total, attempts from alert_messages');

describe('a message that does not arrive', () => {
  it('is retried with what has happened since, and holds up no other recipient', async () => {
    await add(['A'], { to: [await channel(), await channel(other)] });
    await later();
    expect([subjects(), subjects(other)]).toEqual([['A is late'], ['A is late']]);
    await later(1);
    for (let minute = 1; minute <= 30; minute++) await later(minute * retryMs);
    expect(subjects()).toHaveLength(4);
    expect(await rows('select problem from alert_channels where problem is not null')).toEqual([
      { problem: 'returned 500 Internal Server Error' },
    ]);
    await rows('update alert_messages set due_at = ?1', now + dayMs);
    const [dead] = await rows('select id from alert_channels where problem is not null');
    await add(['B'], { to: [String(dead?.id)], at: now + 31 * retryMs });
    heard.responds(() => new Response('ok'));
    await later(31 * retryMs);
    expect(subjects().at(-1)).toBe('A is late and 1 more');
    expect(await waiting()).toEqual([]);
  });

  it('is given up after three days without news', async () => {
    await add(['A'], { to: [await channel()] });
    await later();
    await later(3 * dayMs - 1);
    expect(await waiting()).toHaveLength(1);
    await later(4 * dayMs);
    expect(await waiting()).toEqual([]);
  });

  it('because the run is killed is sent again', async () => {
    await add(['A'], { to: [await channel()] });
    heard.responds(() => new Promise(() => {})); // the invocation ends here
    void later();
    await expect.poll(() => subjects(), { timeout: 10_000 }).toEqual(['A is late']);
    heard.responds(() => new Response('ok'));
    await later(retryMs);
    expect(subjects()).toEqual(['A is late', 'A is late']);
    expect(await waiting()).toEqual([]);
  });

  it('by email is an error line without an address, stops no other, and is retried', async () => {
    const bob = await signIn(us);
    await add(['A'], { to: [annId, await idOf(bob.email)] });
    const { raw, lines } = listenToLog();
    emails.send.mockImplementation(async (mail) => {
      if ('to' in mail && mail.to === ann.email)
        throw Object.assign(new Error(`cannot send to ${ann.email}`), {
          code: 'E_RECIPIENT_NOT_ALLOWED',
        });
      return { messageId: '1' };
    });
    await later();
    const [to, line] = [emails.sent().map((mail) => mail.to), lines('fault')];
    expect(to.sort()).toEqual([ann.email, bob.email].sort());
    expect(line).toMatchObject([
      {
        message: 'An alert could not be sent',
        alert: 'connection',
        code: 'E_RECIPIENT_NOT_ALLOWED',
      },
    ]);
    expect(raw.join()).not.toContain('@');
    await later(retryMs);
    expect(emails.sent().at(-1)?.to).toBe(ann.email);
  });
});

it('what happens while a message is being sent is in the next one', async () => {
  const to = [await channel(other)];
  await add(['A', 'B'], { to });
  let respond = (_: Response) => {};
  heard.responds(() => new Promise((resolve) => (respond = resolve)));
  const sending = later();
  await expect.poll(() => subjects(other)).toEqual(['A is late and 1 more']);
  await add(['C'], { to });
  heard.responds(() => new Response('ok'));
  respond(new Response('ok'));
  await sending;
  expect(subjects(other)).toEqual(['A is late and 1 more', 'C is late']);
});

it('a message names twenty things and counts the others', async () => {
  const to = [await channel(other)];
  const names = Array.from({ length: 2_116 }, (_, i) => `N${i}`);
  for (let time = 0; time < 2; time++) await add(names, { to });
  expect(await waiting()).toEqual([{ total: 4_232, attempts: 0 }]);
  await later();
  expect(subjects(other)).toEqual(['N0 is late and 4,231 more']);
  const [message] = heard.got.map(({ body }) => body as object as AlertMessage);
  expect(message?.parts).toHaveLength(maxNamed + 1);
  expect(message?.parts.at(-1)?.text).toBe('And 4,212 more:');
});

it('says in an email why somebody gets it, and how to turn it off', async () => {
  await add(['A'], { to: [annId] });
  await later();
  await addRows('accidents', 1, () => ({
    ...{ id: 'a', connection_id: us.connection.id, notification_level: 1 },
  }));
  const items = JSON.stringify([{ level: 1, id: 'a', at: 0, vehicle: 'Van' }]);
  const message = { account_id: us.accountId, recipient_id: annId, kind: 'record', items };
  await addRows('alert_messages', 1, () => ({ ...message, total: 1 }));
  await later();
  const footer = (why: string) => expect.stringContaining(`You get this email because ${why}`);
  expect(emails.sent()).toMatchObject([
    { text: footer('you can sign in to Acme Insurance. To turn these emails off: https://') },
    { text: footer('you asked for it in Acme Insurance. To change that: https://') },
  ]);
});

it('drops what is for nobody any more', async () => {
  const id = await channel();
  await add(['A'], { to: [id, annId] });
  await ann.post(`/portal/settings/notifications/channels/${id}/remove`);
  await rows('delete from portal_users where id = ?1', annId);
  await later();
  expect([heard.got, emails.sent(), await waiting()]).toEqual([[], [], []]);
});

describe('the limit of a day', () => {
  const spent = (accountId: string, messages: number, mails: number) =>
    rows('insert into alerts_sent values (?1, ?2, ?3, ?4)', accountId, today, messages, mails);

  it('of an account has the next message wait, which is an error line and loses nothing', async () => {
    await spent(us.accountId, maxPerAccountAndDay - 1, 0);
    const to = [annId, await channel(other)];
    await add(['A'], { to });
    const { lines } = listenToLog();
    expect(await later()).toBe(1);
    expect(lines('fault')).toMatchObject([
      { message: 'Alerts are over the limit of the day', left: 1 },
    ]);
    await add(['B'], { to });
    expect(await later()).toBe(0);
    expect(await later(dayMs)).toBe(2);
    const said = [...emails.sent().map(({ subject }) => subject), ...subjects(other)].sort();
    expect(said).toEqual(['A is late', 'A is late and 1 more', 'B is late']);
  });

  it('of all emails leaves each account a few, and concerns no channel', async () => {
    await spent(newId(), 0, maxEmailsPerDay);
    await spent(us.accountId, 0, leastEmailsPerAccount);
    const them = await world();
    const bob = await signIn(them);
    await add(['A'], { to: [annId, await channel(other)] });
    await add(['B'], { to: [await idOf(bob.email)], accountId: them.accountId });
    expect(await later()).toBe(2);
    expect([emails.sent().map(({ to }) => to), subjects(other)]).toEqual([
      [bob.email],
      ['A is late'],
    ]);
  });
});

it("the email service's own limit of a day has emails wait, but neither channels nor sign-in links", async () => {
  const them = await world();
  const bob = await signIn(them);
  await add(['A'], { to: [annId, await channel(other)] });
  const { lines } = listenToLog();
  emails.send.mockRejectedValue(
    Object.assign(new Error('no more'), { code: 'E_DAILY_LIMIT_EXCEEDED' }),
  );
  expect(await later()).toBe(1);
  expect(lines('fault')).toMatchObject([
    { message: 'Alerts are over the limit of the day', left: 1 },
  ]);
  expect(lines('fault')).toHaveLength(1);
  await emailSignInLinks(env, ann.email); // which is tried all the same
  expect(lines('fault').slice(1)).toMatchObject([
    { message: 'A sign-in link could not be sent', code: 'E_DAILY_LIMIT_EXCEEDED' },
  ]);
  // Nothing else is tried on that day, also of another account.
  emails.send.mockClear();
  emails.send.mockResolvedValue({ messageId: '1' });
  await add(['B'], { to: [await idOf(bob.email)], accountId: them.accountId });
  expect([await later(4 * retryMs), emails.sent()]).toEqual([0, []]);
  await emailSignInLinks(env, ann.email);
  expect(emails.sent()).toMatchObject([{ to: ann.email, subject: 'Your sign-in link' }]);
  expect(await later(dayMs)).toBe(2);
  expect(emails.sent().map(({ subject }) => subject)).toEqual(
    expect.arrayContaining(['A is late', 'B is late']),
  );
});

it('accounts take turns', async () => {
  const them = await world();
  const many = Array.from({ length: 40 }, () => newId());
  const people = { account_id: us.accountId, confirmed_at: 0 };
  await addRows('portal_users', 40, (i) => ({ ...people, id: many[i], email: many[i] }));
  await add(['A'], { to: many });
  const bob = await signIn(them);
  await add(['B'], { to: [await idOf(bob.email)], accountId: them.accountId, at: now + 1 });
  await later(1);
  expect(emails.sent().findIndex(({ to }) => to === bob.email)).toBeLessThan(5);
});
