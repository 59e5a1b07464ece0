import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import {
  type AlertMessage,
  maxPerAccountAndDay,
  maxPerDay,
  type Notice,
  queueMessages,
} from '../../../src/webhooks/alerts/messages.ts';
import { retryMs, sendMessages } from '../../../src/webhooks/alerts/sending.ts';
import { keepEmails } from '../../support/emails.ts';
import { listenToLog } from '../../support/log.ts';
import { ask, signIn } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { story } from '../../support/story.ts';

const tale = story();
const url = 'https://hooks.example.com/services/T0/B0/SECRETabcd';
const now = Date.now();

let ann: Awaited<ReturnType<typeof signIn>>;
let annId: string;
let emails: ReturnType<typeof keepEmails>;
beforeEach(async () => {
  for (const table of ['alert_messages', 'alert_channels', 'alert_emails'])
    await rows(`delete from ${table}`);
  ann = await signIn(tale.us);
  const [user] = await rows('select id from portal_users where email = ?1', ann.email);
  annId = String(user?.id);
  emails = keepEmails();
  tale.heard.got.length = 0;
});

async function channel(to = url): Promise<string> {
  const fields = { kind: 'https', name: 'Ops', url: to, alerts: 'yes' };
  const { cookie } = ann;
  const reply = await ask('POST', '/portal/settings/notifications/channels/new', { cookie, fields });
  return reply.headers.get('location')?.split('/').at(-1) ?? '';
}
const notice = (subject: string, ...recipients: string[]): Notice => ({
  ...{ accountId: tale.us.accountId, account: 'Acme', kind: 'paused', subject },
  ...{ parts: [{ text: 'Text.' }], recipients },
});
/** The bindings with a queue that delivers nothing, so that no job runs beside the one that a test runs. */
const quiet: Env = { ...env, DELIVERIES: { send: async () => {}, sendBatch: async () => {} } as never };

/** Queues messages whose job does not come by itself. */
const queue = (...notices: Notice[]) => queueMessages(quiet, notices, now);
const later = (ms = 0) => sendMessages(quiet, now + ms);
const subjects = (to = url) =>
  tale.heard.got
    .filter((call) => call.url === to)
    .map(({ body }) => (body as object as AlertMessage).subject);
const waiting = () => rows('select 1 from alert_messages');

describe('a message that does not arrive', () => {
  const other = 'https://other.example.com/x';
  /** Two messages wait for a channel, and one for another. */
  async function queued() {
    const [dead, well] = [await channel(), await channel(other)];
    await queue(notice('0', dead), notice('1', dead), notice('2', well));
    tale.heard.responds((call) => new Response('', { status: call.url === url ? 500 : 200 }));
  }

  it('is retried for three days, while those behind it wait and other recipients do not', async () => {
    await queued();
    await later();
    expect([subjects(), subjects(other)]).toEqual([['0'], ['2']]);
    await later(1);
    expect(subjects()).toHaveLength(1);
    for (let minute = 1; minute <= 30; minute++) await later(minute * retryMs);
    expect(subjects().filter((subject) => subject === '0')).toHaveLength(4);
    expect(await rows('select problem from alert_channels where problem is not null')).toEqual([
      { problem: 'returned 500 Internal Server Error' },
    ]);
    for (let day = 3; day < 7; day++) await later(day * dayMs);
    expect(await waiting()).toEqual([]);
  });

  it('because the run is killed is sent again', async () => {
    await queued();
    tale.heard.responds(() => new Promise(() => {})); // the invocation ends here
    void later();
    await expect.poll(() => subjects(), { timeout: 10_000 }).toEqual(['0']);
    tale.heard.responds(() => new Response('ok'));
    await later(retryMs);
    expect(subjects().slice(1).sort()).toEqual(['0', '1']);
    expect(await waiting()).toEqual([]);
  });

  it('by email is an error line without an address, stops no other, and is retried', async () => {
    const bob = await signIn(tale.us);
    const [user] = await rows('select id from portal_users where email = ?1', bob.email);
    await queue(notice('A', annId, String(user?.id)));
    const { raw, lines } = listenToLog();
    emails.send.mockImplementation(async (mail) => {
      if ('to' in mail && mail.to === ann.email)
        throw Object.assign(new Error(`cannot send to ${ann.email}`), { code: 'E_RECIPIENT_NOT_ALLOWED' });
      return { messageId: '1' };
    });
    await later();
    const [to, line] = [emails.sent().map((mail) => mail.to), lines('fault')];
    expect(to.sort()).toEqual([ann.email, bob.email].sort());
    expect(line).toMatchObject([
      { message: 'An alert could not be sent', alert: 'paused', code: 'E_RECIPIENT_NOT_ALLOWED' },
    ]);
    expect(raw.join()).not.toContain('@');
    await later(retryMs);
    expect(emails.sent().at(-1)?.to).toBe(ann.email);
  });
});

it('says in an email why somebody gets it, and how to turn it off', async () => {
  await queue(notice('A', annId), { ...notice('B', annId), kind: 'record' });
  await later();
  const footer = (why: string) => expect.stringContaining(`You get this email because ${why}`);
  expect(emails.sent()).toMatchObject([
    { subject: 'A', text: footer('you can sign in to Acme. To turn these emails off: https://') },
    { subject: 'B', text: footer('you asked for it in Acme. To change that: https://') },
  ]);
});

it('drops what is for nobody any more', async () => {
  const id = await channel();
  await queue(notice('A', id, annId));
  const { cookie } = ann;
  await ask('POST', `/portal/settings/notifications/channels/${id}/remove`, { cookie, fields: {} });
  await rows('delete from portal_users where id = ?1', annId);
  await later();
  expect([tale.heard.got, emails.sent(), await waiting()]).toEqual([[], [], []]);
});

it.each([
  ['an account', maxPerAccountAndDay, () => tale.us.accountId],
  ['everybody', maxPerDay, newId],
])('limits the messages of a day of %s, which is an error line', async (_, most, whose) => {
  const { lines } = listenToLog();
  await rows('insert into alert_emails values (?1, ?2, ?3)', whose(), Math.floor(now / dayMs), most - 1);
  expect(await queue(notice('A', annId), notice('B', annId))).toBe(1);
  expect(lines('fault')).toMatchObject([{ message: 'Alerts are over the limit of the day', left: 1 }]);
  expect(await queueMessages(quiet, [notice('C', annId)], now + dayMs)).toBe(1);
});
