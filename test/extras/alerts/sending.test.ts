import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { addNews, maxNamed } from '#src/extras/alerts/pending.ts';
import {
  leastEmailsPerAccount,
  maxEmailsPerDay,
  maxPerAccountAndDay,
  retryMs,
  sendMessages,
} from '#src/extras/alerts/sending.ts';
import { emailSignInLinks } from '#src/portal/sign-in/sign-in.tsx';
import {
  addRow,
  addRows,
  dayMs,
  listenToLog,
  metered,
  minuteMs,
  newId,
  openDatabase,
  rows,
  signIn,
  through,
  times,
  transaction,
  value,
  world,
} from '#test/support.ts';
import { alertStory, channelUrl } from './support.ts';

const { us, heard, ann, emails, mails, addChannel, got } = alertStory();
const other = 'https://other.example.com/x';
const now = Date.now();
const today = Math.floor(now / dayMs);

beforeEach(() =>
  heard.responds(({ url }) => new Response('', { status: url === channelUrl ? 500 : 200 })),
);

const channel = async (url = channelUrl) => (await addChannel({ url })).split('/').at(-1) ?? '';

/** Adds news of a connection with each name, whose job does not come by itself. */
async function add(
  to: string[],
  names = ['A'],
  { accountId = us.accountId, at = now }: { accountId?: string; at?: number } = {},
) {
  const db = openDatabase(env);
  const items = names.map((name) => ({ id: name, name, subject: 'is late', text: 'Text.' }));
  const news = sql`(
    select ${accountId} as account_id, r.value as recipient_id, i.value as item
    from json_each(${JSON.stringify(items)}) i cross join json_each(${JSON.stringify(to)}) r)`;
  await transaction(db, [addNews(env, db, 'connection', news, at)]);
}
/** Its queue delivers nothing, so that no job runs beside the one that a test runs. */
const { env: quiet } = metered();
const later = (ms = 0) => sendMessages(quiet, now + ms);

const subjects = (url?: string) => got(url).map(({ subject }) => subject);
/** Somebody of another account, and news for them. */
async function bobElsewhere() {
  const them = await world();
  const { email, id } = await signIn(them);
  const tell = (name: string, at = now) => add([id], [name], { ...them, at });
  return { email, tell };
}
const waiting = () => rows('select total, attempts from alert_messages');

describe('a message that does not arrive', () => {
  it('is retried with what has happened since, and holds up no other recipient', async () => {
    const dead = await channel();
    await add([dead, await channel(other)]);
    await later();
    expect([subjects(), subjects(other)]).toEqual([['A is late'], ['A is late']]);
    await later(1);
    for (let minute = 1; minute <= 30; minute++) await later(minute * retryMs);
    expect(subjects()).toHaveLength(4);
    const failing = await rows('select id, problem from alert_channels where problem is not null');
    expect(failing).toEqual([{ id: dead, problem: 'returned 500 Internal Server Error' }]);
    await rows('update alert_messages set due_at = ?1', now + dayMs);
    await add([dead], ['B'], { at: now + 31 * retryMs });
    heard.returns(200);
    await later(31 * retryMs);
    expect(subjects().at(-1)).toBe('A is late and 1 more');
    expect(await waiting()).toEqual([]);
  });

  it('is retried after 1, 4 and 16 minutes and so on, but each six hours at least', async () => {
    await add([await channel()]);
    const minutes: number[] = [];
    for (let at = now; at < now + 2 * dayMs; ) {
      await later(at - now);
      const dueAt = await value<number>('select due_at from alert_messages');
      minutes.push((dueAt - at) / minuteMs);
      at = dueAt;
    }
    expect(minutes).toEqual([1, 4, 16, 64, 256, ...Array(minutes.length - 5).fill(360)]);
  });

  it('is given up after three days without news', async () => {
    await add([await channel()]);
    await later();
    await later(3 * dayMs - 1);
    expect(await waiting()).toHaveLength(1);
    await later(4 * dayMs);
    expect(await waiting()).toEqual([]);
  });

  it('because the run is killed is sent again', async () => {
    await add([await channel()]);
    heard.responds(() => new Promise(() => {})); // the invocation ends here
    void later();
    await expect.poll(() => subjects()).toEqual(['A is late']);
    heard.returns(200);
    await later(retryMs);
    expect(subjects()).toEqual(['A is late', 'A is late']);
    expect(await waiting()).toEqual([]);
  });

  it('by email is an error line without an address, stops no other, and is retried', async () => {
    const bob = await signIn(us);
    await add([ann.id, bob.id]);
    const { raw, lines } = listenToLog();
    const code = 'E_RECIPIENT_NOT_ALLOWED';
    emails.send.mockImplementation(async (mail) => {
      if ('to' in mail && mail.to === ann.email)
        throw Object.assign(new Error(`cannot send to ${ann.email}`), { code });
      return { messageId: '1' };
    });
    await later();
    const to = mails().map((mail) => mail.to);
    expect(to.sort()).toEqual([ann.email, bob.email].sort());
    expect(lines('fault')).toMatchObject([
      { message: 'An alert could not be sent', alert: 'connection', code },
    ]);
    expect(raw.join()).not.toContain('@');
    await later(retryMs);
    expect(mails().at(-1)?.to).toBe(ann.email);
  });
});

it('an email to which the email service does not respond is retried, and holds up nobody', async () => {
  await add([ann.id, await channel(other)]);
  const { lines } = listenToLog();
  emails.send.mockReturnValue(new Promise(() => {}));
  expect(await later()).toBe(1);
  expect(subjects(other)).toEqual(['A is late']);
  expect(lines('fault')).toMatchObject([{ message: 'An alert could not be sent', code: null }]);
  expect(await waiting()).toEqual([{ total: 1, attempts: 1 }]);
});

it('what happens while a message is being sent is in the next one', async () => {
  const to = [await channel(other)];
  await add(to, ['A', 'B']);
  const release = heard.holds();
  const sending = later();
  await expect.poll(() => subjects(other)).toEqual(['A is late and 1 more']);
  await add(to, ['C']);
  release();
  await sending;
  expect(subjects(other)).toEqual(['A is late and 1 more', 'C is late']);
});

it('a message names twenty things and counts the others', async () => {
  const to = [await channel(other)];
  const names = times(2_116, (i) => `N${i}`);
  for (let time = 0; time < 2; time++) await add(to, names);
  expect(await waiting()).toEqual([{ total: 4_232, attempts: 0 }]);
  await later();
  expect(subjects(other)).toEqual(['N0 is late and 4,231 more']);
  const [message] = got(other);
  expect(message?.parts).toHaveLength(maxNamed + 1);
  expect(message?.parts.at(-1)?.text).toBe('And 4,212 more:');
});

it('says in an email why somebody gets it, and how to turn it off', async () => {
  await add([ann.id]);
  await later();
  await addRow('accidents', {
    id: 'a',
    connection_id: us.connection.id,
    notification_level: 1,
  });
  const items = JSON.stringify([{ level: 1, id: 'a', at: 0, vehicle: 'Van' }]);
  const message = { account_id: us.accountId, recipient_id: ann.id, kind: 'record', items };
  await addRow('alert_messages', { ...message, total: 1 });
  await later();
  const footer = (why: string) => expect.stringContaining(`You get this email because ${why}`);
  expect(mails()).toMatchObject([
    { text: footer('you can sign in to Acme Insurance. To turn these emails off: https://') },
    { text: footer('you asked for it in Acme Insurance. To change that: https://') },
  ]);
});

it('drops what is for nobody any more', async () => {
  const id = await channel();
  await add([id, ann.id]);
  await ann.post(`/portal/settings/notifications/channels/${id}/remove`);
  await rows('delete from portal_users where id = ?1', ann.id);
  await later();
  expect([heard.got, mails(), await waiting()]).toEqual([[], [], []]);
});

it('says nothing new of a channel whose message is about nothing that still exists', async () => {
  const id = await channel();
  await rows("update alert_channels set problem = 'returned 500', problem_at = 1");
  await add([id]);
  await rows("update alert_messages set kind = 'record'"); // of accidents that were deleted since
  await later();
  expect([heard.got, await waiting()]).toEqual([[], []]);
  const known = 'select problem, problem_at as at, sent_at as sent from alert_channels';
  expect(await rows(known)).toEqual([{ problem: 'returned 500', at: 1, sent: null }]);
});

describe('the limit of a day', () => {
  const spent = (accountId: string, messages: number, mails: number) =>
    rows('insert into alerts_sent values (?1, ?2, ?3, ?4)', accountId, today, messages, mails);

  it('of an account has the next message wait, which is an error line and loses nothing', async () => {
    await spent(us.accountId, maxPerAccountAndDay - 1, 0);
    const to = [ann.id, await channel(other)];
    await add(to);
    const { lines } = listenToLog();
    expect(await later()).toBe(1);
    expect(lines('fault')).toMatchObject([
      { message: 'Alerts are over the limit of the day', left: 1 },
    ]);
    await add(to, ['B']);
    expect(await later()).toBe(0);
    expect(await later(dayMs)).toBe(2);
    const said = [...mails().map(({ subject }) => subject), ...subjects(other)].sort();
    expect(said).toEqual(['A is late', 'A is late and 1 more', 'B is late']);
  });

  it('of all emails leaves each account a few, and concerns no channel', async () => {
    await spent(newId(), 0, maxEmailsPerDay);
    await spent(us.accountId, 0, leastEmailsPerAccount);
    const bob = await bobElsewhere();
    await add([ann.id, await channel(other)]);
    await bob.tell('B');
    expect(await later()).toBe(2);
    expect([mails().map(({ to }) => to), subjects(other)]).toEqual([[bob.email], ['A is late']]);
  });
});

it("the email service's own limit of a day has emails wait, but neither channels nor sign-in links", async () => {
  const bob = await bobElsewhere();
  await add([ann.id, await channel(other)]);
  const { lines } = listenToLog();
  const code = 'E_DAILY_LIMIT_EXCEEDED';
  emails.send.mockRejectedValue(Object.assign(new Error('no more'), { code }));
  expect(await later()).toBe(1);
  await emailSignInLinks(env, ann.email); // which is tried all the same
  expect(lines('fault')).toMatchObject([
    { message: 'Alerts are over the limit of the day', left: 1 },
    { message: 'A sign-in link could not be sent', code },
  ]);
  const DB = through(env.DB, async () => {
    throw new Error('no such table');
  });
  await emailSignInLinks({ ...env, DB }, ann.email);
  expect(lines('fault')[2]).toMatchObject({ code: null, error: 'Error: no such table' });
  // Nothing else is tried on that day, also of another account.
  emails.send.mockClear();
  emails.send.mockResolvedValue({ messageId: '1' });
  await bob.tell('B');
  expect([await later(4 * retryMs), mails()]).toEqual([0, []]);
  await emailSignInLinks(env, ann.email);
  expect(mails()).toMatchObject([{ to: ann.email, subject: 'Your sign-in link' }]);
  expect(await later(dayMs)).toBe(2);
  const said = mails().map(({ subject }) => subject);
  expect(said).toEqual(expect.arrayContaining(['A is late', 'B is late']));
});

it('accounts take turns', async () => {
  const many = times(40, () => newId());
  const people = { account_id: us.accountId, confirmed_at: 0 };
  await addRows('portal_users', 40, (i) => ({ ...people, id: many[i], email: many[i] }));
  await add(many);
  const bob = await bobElsewhere();
  await bob.tell('B', now + 1);
  await later(1);
  expect(mails().findIndex(({ to }) => to === bob.email)).toBeLessThan(5);
});
