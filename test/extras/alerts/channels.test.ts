import { env } from 'cloudflare:workers';
import { type AlertMessage, channelBody } from '#src/extras/alerts/call.ts';
import { maxChannels } from '#src/extras/alerts/channel-input.ts';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { alertStory, fail } from '#test/extras/alerts/support.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { operator } from '#test/support/world.ts';

const { us, heard, send, register, ann, time, run, pass, mails } = alertStory();
beforeEach(() => rows('delete from mail_rules')); // the first person has one
const notifications = '/portal/settings/notifications';
const path = `${notifications}/channels`;
const url = 'https://hooks.example.com/services/T0/B0/SECRETabcd';

const fields = (more: Record<string, string> = {}): Record<string, string> => ({
  ...{ kind: 'https', name: 'Ops', url, alerts: 'yes', ...more },
});
async function add(more?: Record<string, string>): Promise<string> {
  const reply = await ann.post(`${path}/new`, fields(more));
  expect(reply.status).toBe(303);
  return reply.headers.get('location') ?? '';
}
const allSent = () =>
  expect
    .poll(() => rows('select 1 from alert_messages union select 1 from jobs'), { timeout: 10_000 })
    .toEqual([]);
/** What channels got, but for deliveries of webhooks. */
const got = () => heard.got.filter((call) => call.url === url).map(({ body }) => body as object);

describe('a message', () => {
  const message: AlertMessage = {
    accountId: 'a-1',
    account: 'Acme & Sons',
    kind: 'paused',
    subject: 'Deliveries to <claims> are paused',
    parts: [
      {
        name: '<!channel>',
        text: 'paused.',
        link: { url: 'https://p.example.com/w', label: 'Open' },
      },
      { text: 'Please check your receiver.' },
    ],
  };
  const body = (kind: Parameters<typeof channelBody>[0]) =>
    JSON.parse(channelBody(kind, message, Date.UTC(2026, 10, 20, 20)));
  const mrkdwn = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

  it('for Slack has sections, in which names are no links and mention nobody', () => {
    expect(body('slack')).toEqual({
      text: 'Deliveries to &lt;claims&gt; are paused (Acme &amp; Sons)',
      blocks: [
        mrkdwn('*Deliveries to &lt;claims&gt; are paused*\nAcme &amp; Sons'),
        mrkdwn('*&lt;!channel&gt;:* paused. <https://p.example.com/w|Open>'),
        mrkdwn('Please check your receiver.'),
      ],
    });
  });

  it('for Teams is an adaptive card of texts that are not read as Markdown', () => {
    const { type, attachments } = body('teams');
    const content = { type: 'AdaptiveCard', version: '1.4' };
    const contentType = 'application/vnd.microsoft.card.adaptive';
    expect([type, attachments]).toMatchObject(['message', [{ contentType, content }]]);
    const { body: paragraphs } = attachments[0].content;
    expect(new Set(paragraphs.map(({ type }: { type: string }) => type))).toEqual(
      new Set(['RichTextBlock']),
    );
    expect(paragraphs[2].inlines).toEqual([
      { type: 'TextRun', text: '<!channel>: ', weight: 'Bolder' },
      { type: 'TextRun', text: 'paused. ' },
      {
        type: 'TextRun',
        text: 'Open',
        selectAction: { type: 'Action.OpenUrl', url: 'https://p.example.com/w' },
      },
    ]);
  });

  it('for a chat is short enough for it, and keeps its links', () => {
    const link = { url: `https://p.example.com/${'w'.repeat(100)}`, label: 'Open the accident' };
    const parts = Array(21).fill({ name: 'n'.repeat(200), text: 't'.repeat(2000), link });
    const [slack = '', teams = ''] = (['slack', 'teams'] as const).map((kind) =>
      channelBody(kind, { ...message, parts }, 0),
    );
    const texts = JSON.parse(slack).blocks.map(({ text }: { text: { text: string } }) => text.text);
    expect(texts.join('').length).toBeLessThan(13_000);
    expect(teams.length).toBeLessThan(21_000);
    for (const body of [slack, teams]) expect(body.split(link.url)).toHaveLength(22);
    const [long] = JSON.parse(
      channelBody('slack', { ...message, parts: [{ text: 't'.repeat(9000), link }] }, 0),
    ).blocks.slice(1);
    expect(long.text.text).toMatch(/^t{2500} <https.*Open the accident>$/);
  });

  it('for an HTTPS endpoint is JSON', () => {
    expect(body('https')).toEqual({ sentAt: '2026-11-20T20:00:00.000Z', ...message });
  });
});

describe('a channel', () => {
  it('gets a test message at once, and the page says whether it arrived', async () => {
    const channel = await add();
    expect(await ann.outcome(`${channel}/test`)).toContain('Ops accepted the test message.');
    expect(got()).toMatchObject([{ kind: 'test', accountId: us.accountId }]);
    heard.responds(() => new Response('channel_is_archived', { status: 410 }));
    const failed = 'the channel returned 410 Gone: channel_is_archived';
    expect(await ann.outcome(`${channel}/test`)).toContain(`The test message failed: ${failed}`);
    expect(await ann.textAt(notifications)).toContain('Returned 410 Gone: channel_is_archived');
    heard.responds(() => new Response(`no ${url}`, { status: 500 }));
    expect(await ann.outcome(`${channel}/test`)).not.toContain('SECRET');
  });

  it('has its URL encrypted, and shows the host and four characters of it', async () => {
    const channel = await add();
    const [row] = await rows('select * from alert_channels');
    expect(JSON.stringify(row)).not.toContain('SECRET');
    for (const page of [channel, notifications, '/portal/settings/audit']) {
      const text = await ann.html(page);
      expect(text).not.toContain('SECRET');
      expect(text).toContain('Ops');
    }
    const list = await ann.textAt(notifications);
    expect(list).toContain('hooks.example.com …abcd');
  });

  it('keeps its URL unless another is entered, and is gone once it is removed', async () => {
    const channel = await add();
    await ann.post(channel, fields({ url: '', name: 'Night shift', levels: '1' }));
    await ann.post(`${channel}/test`);
    expect(got()).toHaveLength(1);
    const changed = 'https://other.example.com/x';
    await ann.post(channel, fields({ url: changed }));
    await ann.post(`${channel}/test`);
    expect(heard.got.at(-1)?.url).toBe(changed);
    expect(await ann.textAt(`${channel}/remove`)).toContain('Remove “Ops”?');
    expect((await ann.post(`${channel}/remove`)).status).toBe(303);
    for (const table of ['alert_channels', 'mail_rules'])
      expect(await rows(`select 1 from ${table}`)).toEqual([]);
    expect((await ann.get(channel)).status).toBe(404);
  });

  it.each([
    ['a plain http URL', { url: 'http://hooks.example.com' }, 'must be an absolute https URL'],
    [
      'a URL that is too long',
      { url: `${url}${'x'.repeat(2048)}` },
      'can be at most 2,048 characters',
    ],
    ['another kind', { kind: 'pager' }, 'must be one of the choices'],
  ])('is refused with %s, under its field', async (_, more, why) => {
    const reply = await ann.post(`${path}/new`, fields(more));
    const text = await reply.text();
    expect([reply.status, text]).toEqual([400, expect.stringContaining(why)]);
    expect(text).not.toContain('SECRET');
  });

  it('is one of ten at most', async () => {
    for (let i = 0; i < maxChannels; i++) await add();
    const refused = await ann.post(`${path}/new`, fields());
    expect(await refused.text()).toContain(`An account can have at most ${maxChannels} channels`);
  });

  it('starts with all levels of accidents, and says that nothing was sent yet', async () => {
    const form = (await ann.page('/portal/settings/notifications/channels/new')).form(
      'Add channel',
    );
    expect(form.values('levels')).toEqual(['1', '2', '3']);
    const fields = { kind: 'https', name: 'Ops', url, alerts: 'yes' };
    await ann.post('/portal/settings/notifications/channels/new', fields);
    expect((await ann.page('/portal/settings/notifications')).text).toContain('Nothing sent yet');
  });

  it('is added, listed, tested and removed by operators, who do not see its URL either', async () => {
    const channels = `/operator/accounts/${us.accountId}/channels`;
    type Shown = { id: string; problem: string | null };
    const body = { kind: 'https', name: 'Ops', url, accidentLevels: [1], minEventRisk: 4 };
    const { data: channel } = await operator.post<Shown>(channels, body);
    expect(channel).toEqual({
      ...{
        id: channel.id,
        kind: 'https',
        name: 'Ops',
        host: 'hooks.example.com',
        lastFour: 'abcd',
      },
      ...{ getsAlerts: true, problem: null, problemAt: null, sentAt: null },
    });
    expect((await operator.get(channels)).data).toEqual([channel]);
    expect(await rows('select levels, risk from mail_rules')).toEqual([{ levels: 1, risk: 4 }]);
    const test = async () =>
      (await operator.post<Shown>(`/operator/channels/${channel.id}/test`, {})).data;
    expect(await test()).toEqual({ ...channel, sentAt: expect.any(String) });
    expect(got()).toMatchObject([{ kind: 'test', account: 'Acme Insurance' }]);
    heard.responds(({ url }) => Response.redirect(`${url}/`, 301)); // to what is a secret
    expect((await test()).problem).toBe('returned a redirect (301)');
    heard.responds(() => new Response('no_service', { status: 404 }));
    const failed = await test();
    expect(failed.problem).toBe('returned 404 Not Found: no_service');
    expect((await operator.delete(`/operator/channels/${channel.id}`)).data).toEqual(failed);
    expect((await operator.get(channels)).data).toEqual([]);
    const audit = await operator.get<object[]>(`/operator/accounts/${us.accountId}/audit`);
    const noted = { actor: 'operator', subject: 'team channel', subjectName: 'Ops' };
    expect(audit.data.slice(0, 2)).toMatchObject([
      { action: 'deleted', ...noted },
      { action: 'created', ...noted },
    ]);
    expect(JSON.stringify([channel, failed, audit])).not.toContain('SECRET');
  });
});

describe('a channel is notified', () => {
  it('of webhooks that are paused, as people are, unless it is not to be', async () => {
    await add();
    await add({ url: 'https://quiet.example.com', alerts: '' });
    await fail([(await register()).id], time.now);
    await run();
    await pass(15);
    await expect.poll(got, { timeout: 10_000 }).toMatchObject([
      {
        kind: 'paused',
        subject: 'Deliveries to receiver.example.com are paused',
        account: 'Acme Insurance',
      },
    ]);
    await pass(60);
    await allSent();
    expect(got()).toHaveLength(1);
    expect(heard.got.filter((call) => call.url.includes('quiet'))).toEqual([]);
  });

  it('of accidents and safety events by its rule', async () => {
    await add({ alerts: '', levels: '1', risk: '4' });
    const eventTime = new Date().toISOString();
    await send(
      vehicle(),
      accident({ sourceId: 'crash', eventTime }),
      safetyEvent({ sourceId: 'brake', startedAt: eventTime, eventRisk: 4 }),
      safetyEvent({ sourceId: 'light', startedAt: eventTime, eventRisk: 3 }),
    );
    await sendRecordAlerts(env);
    await allSent();
    const texts = got().flatMap((body) =>
      (body as AlertMessage).parts.map(({ text }) => text.split(', 2')[0]),
    );
    expect(texts).toEqual(['Accident, level 1, first detection', 'Harsh Braking, risk 4']);
  });

  it('where the deployment sends no email as well', async () => {
    await add();
    const bindings = { ...env, EMAIL_FROM: undefined } as unknown as Env; // as deployed without
    await fail([(await register()).id], time.now);
    await run(bindings);
    await pass(15, bindings);
    await allSent();
    expect(got()).toHaveLength(1);
    expect(mails()).toEqual([]);
  });
});
