import { expect, it } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { deliveriesOf, settled } from '../../support/deliveries.ts';
import { ask, signIn, visitor } from '../../support/portal.ts';
import { rows } from '../../support/rows.ts';
import { story } from '../../support/story.ts';
import { as, type WebhookOut, webhookBody } from '../../support/world.ts';

const tale = story();

/** A webhook whose receiver did not want so many deliveries, and its page of a replay, as somebody who is signed in. */
async function missed(count: number) {
  tale.heard.responds(() => new Response('gone', { status: 410 }));
  const hook = await tale.register();
  await tale.happen(count);
  await settled(hook.id, count, ['failed']);
  tale.heard.responds(() => new Response('ok'));
  const { cookie } = await signIn(tale.us);
  return { hook, ...pageOf(hook.id, cookie) };
}

function pageOf(webhookId: string, cookie: string) {
  const path = `/portal/webhooks/${webhookId}/replay`;
  return {
    open: async (query = '') => readable(await ask('GET', `${path}?${query}`, { cookie })),
    /** Presses the button of a page; returns the page that follows. */
    press: async ({ hidden }: { hidden: [string, string][] }) => {
      const reply = await ask('POST', path, { cookie, fields: hidden });
      expect(reply.status).toBe(303);
      const flash = reply.headers.get('set-cookie')?.split(';')[0] ?? '';
      return readable(
        await ask('GET', reply.headers.get('location') ?? '', { cookie: `${cookie}; ${flash}` }),
      );
    },
  };
}

async function readable(reply: Response) {
  const html = await reply.text();
  const hidden = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  );
  return { status: reply.status, html, text: html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' '), hidden };
}

it('what was missed is counted first, and sent when the button is pressed', async () => {
  const { hook, open, press } = await missed(3);
  const question = await open();
  expect(question.text).toContain('3 deliveries can be replayed. Each keeps its Delivery-Id.');
  expect(question.text).toContain('Replay 3 deliveries');
  expect(await deliveriesOf(hook.id)).toMatchObject(Array(3).fill({ status: 'failed' }));
  const done = await press(question);
  expect(done.text).toContain('3 deliveries queued again.');
  expect(done.text).not.toContain('can be replayed');
  await settled(hook.id, 3, ['delivered']);
  expect((await open()).text).toContain('There is nothing to replay.');
  expect((await open()).hidden).toEqual([]);
});

it('what was delivered is sent again only if chosen, with a warning about repeats', async () => {
  const { hook, open, press } = await missed(1);
  await tale.happen(1, 'fine');
  await settled(hook.id, 1, ['delivered']);
  const question = await open('which=all&since=&until=');
  expect(question.text).toContain('2 deliveries can be replayed.');
  expect(question.text).toContain('Your receiver will see a repeat of each that it has already received.');
  expect((await press(question)).text).toContain('2 deliveries queued again.');
});

it('times are in the zone of the reader, which is named, and stay as they were typed', async () => {
  const { hook } = await missed(1);
  const { cookie } = await signIn(tale.us);
  const { open } = pageOf(hook.id, `${cookie}; timezone=Asia%2FKolkata`);
  const inIndia = (ms: number) => new Date(Date.now() + 5.5 * 3_600_000 + ms).toISOString().slice(0, 16);
  const soon = inIndia(60_000);
  const page = await open(`since=${inIndia(-600_000)}&until=${soon}`);
  expect(page.text).toContain('1 delivery can be replayed.');
  expect(page.text).toContain('Both in India Standard Time (Kolkata).');
  expect(page.html).toContain(`value="${soon}"`);
  const utc = await pageOf(hook.id, cookie).open(`since=${inIndia(-600_000)}`); // hours from now
  const turned = await pageOf(hook.id, cookie).open('since=2026-11-20T14:30&until=2026-11-20T14:00');
  expect(turned.text).toContain('must be before until');
  expect(utc.text).toContain('There is nothing to replay.');
});

it('what does not fit into one call is left for the next, until all is sent once', async () => {
  const { data } = await as(tale.us.apiToken).post<WebhookOut>('/webhook', webhookBody(tale.us));
  const fill = (count: number) =>
    rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?4)
       insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       select ?1, substr(?2, 1, 24) || printf('%012x', i), ?3, ?1, 0, 'failed', 0 from n`,
      ...[data.id, newId(Date.now() - 1000), tale.us.accountId, count],
    );
  await rows(
    `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
     values (?1, 0, 2, ?2, ?3, '{}', 0)`,
    ...[data.id, tale.us.accountId, tale.us.connection.id],
  );
  tale.heard.responds(() => new Response('gone', { status: 410 })); // so that they fail again at once
  const { open, press } = pageOf(data.id, (await signIn(tale.us)).cookie);
  await fill(6000);
  const question = await open();
  expect(question.text).toContain('5,000 deliveries can be replayed, and perhaps more after them.');
  expect(question.text).toContain('Replay the first 5,000');
  const rest = await press(question);
  expect(rest.text).toContain('5,000 deliveries queued again.');
  expect(rest.text).toContain('1,000 deliveries can be replayed.');
  const done = await press(rest);
  expect(done.text).toContain('1,000 deliveries queued again.');
  expect(done.hidden).toEqual([]);
  await rows('delete from deliveries where webhook_id = ?1', data.id);
});

it('one delivery is replayed from its page, which warns of a repeat', async () => {
  const { hook } = await missed(1);
  const { cookie } = await signIn(tale.us);
  const { textAt, outcome } = visitor(() => cookie);
  const [{ id } = { id: '' }] = await deliveriesOf(hook.id);
  const path = `/portal/webhooks/${hook.id}/deliveries/${id}`;
  expect(await textAt(path)).not.toContain('will see a repeat');
  const replayed = await outcome(`${path}/replay`);
  expect(replayed).toMatch(/Replayed: [^.]+\. Your receiver returned 200 in \d+ ms\./);
  expect(replayed).toContain('your receiver will see a repeat, with the same Delivery-Id');
  await rows('delete from webhook_connections where webhook_id = ?1', hook.id);
  const refused = await outcome(`${path}/replay`);
  expect(refused).toContain('The webhook does not subscribe to this notification any more.');
});
