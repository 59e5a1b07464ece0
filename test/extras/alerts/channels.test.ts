import { env } from 'cloudflare:workers';
import { type AlertMessage, channelBody } from '#src/extras/alerts/call.ts';
import { maxChannels } from '#src/extras/alerts/channel-input.ts';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { messageJob } from '#src/extras/alerts/sending.ts';
import { accident, ago, auditOf, operator, rows, safetyEvent, vehicle } from '#test/support.ts';
import { alertStory, channelUrl, fail } from './support.ts';

const { us, heard, send, register, ann, time, pass, mails, addChannel, got } = alertStory();
beforeEach(() => rows('delete from mail_rules')); // the first person has one
const notifications = '/portal/settings/notifications';

const left = 'select 1 from alert_messages union select 1 from jobs where name = ?';
const allSent = () => expect.poll(() => rows(left, messageJob)).toEqual([]);

describe('a message', () => {
  const link = { url: 'https://p.example.com/w', label: 'Open' };
  const message: AlertMessage = {
    accountId: 'a-1',
    account: 'Acme & Sons',
    kind: 'paused',
    subject: 'Deliveries to <claims> are paused',
    parts: [{ name: '<!channel>', text: 'paused.', link }, { text: 'Please check your receiver.' }],
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
    for (const { type } of paragraphs) expect(type).toBe('RichTextBlock');
    const selectAction = { type: 'Action.OpenUrl', url: link.url };
    expect(paragraphs[2].inlines).toEqual([
      { type: 'TextRun', text: '<!channel>: ', weight: 'Bolder' },
      { type: 'TextRun', text: 'paused. ' },
      { type: 'TextRun', text: 'Open', selectAction },
    ]);
  });

  it('for a chat is short enough for it, and keeps its links', () => {
    const link = { url: `https://p.example.com/${'w'.repeat(100)}`, label: 'Open the accident' };
    const parts = Array(21).fill({ name: 'n'.repeat(200), text: 't'.repeat(2000), link });
    const slack = channelBody('slack', { ...message, parts }, 0);
    const teams = channelBody('teams', { ...message, parts }, 0);
    const textsIn = (body: string) =>
      JSON.parse(body).blocks.map(({ text }: { text: { text: string } }) => text.text);
    expect(textsIn(slack).join('').length).toBeLessThan(13_000);
    expect(teams.length).toBeLessThan(21_000);
    for (const body of [slack, teams]) expect(body.split(link.url)).toHaveLength(22);
    const long = channelBody('slack', { ...message, parts: [{ text: 't'.repeat(9000), link }] }, 0);
    expect(textsIn(long)[1]).toMatch(/^t{2500} <https.*Open the accident>$/);
  });

  it('for an HTTPS endpoint is JSON', () => {
    expect(body('https')).toEqual({ sentAt: '2026-11-20T20:00:00.000Z', ...message });
  });
});

const ops = { kind: 'https', name: 'Ops', url: channelUrl };

describe('a channel', () => {
  it('gets a test message at once, and the page says whether it arrived', async () => {
    const channel = await addChannel();
    expect(await ann.textAt(notifications)).toContain('hooks.example.com …abcd Nothing sent yet');
    expect(await ann.outcome(`${channel}/test`)).toContain('Ops accepted the test message.');
    expect(got()).toMatchObject([{ kind: 'test', accountId: us.accountId }]);
    heard.responds(() => new Response('channel_is_archived', { status: 410 }));
    const failed = 'the channel returned 410 Gone: channel_is_archived';
    expect(await ann.outcome(`${channel}/test`)).toContain(`The test message failed: ${failed}`);
    expect(await ann.textAt(notifications)).toContain('Returned 410 Gone: channel_is_archived');
    heard.responds(() => new Response(`no ${channelUrl}`, { status: 500 }));
    expect(await ann.outcome(`${channel}/test`)).not.toContain('SECRET');
  });

  it('keeps its URL unless another is entered, and is gone once it is removed', async () => {
    const channel = await addChannel();
    const save = async (changes: Record<string, string>) => {
      await (await ann.page(channel)).press('Save', changes);
      await ann.post(`${channel}/test`);
    };
    await save({ name: 'Night shift' });
    expect(got()).toHaveLength(1);
    const changed = 'https://other.example.com/x';
    await save({ url: changed });
    expect(got(changed)).toHaveLength(1);
    const question = await ann.page(`${channel}/remove`);
    expect(question.text).toContain('Remove “Night shift”?');
    expect((await ann.post(`${channel}/remove`)).status).toBe(303);
    const left = 'select 1 from alert_channels union select 1 from mail_rules';
    expect(await rows(left)).toEqual([]);
    expect((await ann.get(channel)).status).toBe(404);
  });

  it.each([
    ['a plain http URL', 'url', 'http://hooks.example.com/SECRET', 'must be an absolute https URL'],
    [
      'a URL that is too long',
      'url',
      `${channelUrl}${'x'.repeat(2048)}`,
      'can be at most 2,048 characters',
    ],
    ['another kind', 'kind', 'pager', 'must be one of the choices'],
  ])('is refused with %s, under its field', async (_, name, value, why) => {
    const form = await ann.page(`${notifications}/channels/new`);
    const { status, errors, text } = await form.press('Add channel', { ...ops, [name]: value });
    expect([status, errors[name]]).toEqual([400, why]);
    expect(text).not.toContain('SECRET');
  });

  it('starts with all levels of accidents, and is one of ten at most', async () => {
    for (let i = 0; i < maxChannels; i++) await addChannel();
    const form = await ann.page(`${notifications}/channels/new`);
    expect(form.form('Add channel').values('levels')).toEqual(['1', '2', '3']);
    const refused = await form.press('Add channel', ops);
    expect(refused.text).toContain(`An account can have at most ${maxChannels} channels`);
  });

  it('is added, listed, tested and removed by operators, who do not see its URL either', async () => {
    const channels = `/operator/accounts/${us.accountId}/channels`;
    type Shown = { id: string; problem: string | null };
    const body = { ...ops, accidentLevels: [1], minEventRisk: 4 };
    const { data: channel } = await operator.post<Shown>(channels, body);
    expect(channel).toEqual({
      id: channel.id,
      kind: 'https',
      name: 'Ops',
      host: 'hooks.example.com',
      lastFour: 'abcd',
      getsAlerts: true,
      problem: null,
      problemAt: null,
      sentAt: null,
    });
    expect((await operator.get(channels)).data).toEqual([channel]);
    expect(await rows('select levels, risk from mail_rules')).toEqual([{ levels: 1, risk: 4 }]);
    const stored = await rows('select * from alert_channels');
    const test = async () =>
      (await operator.post<Shown>(`/operator/channels/${channel.id}/test`, {})).data;
    expect(await test()).toEqual({ ...channel, sentAt: expect.any(String) });
    expect(got()).toMatchObject([{ kind: 'test', account: 'Acme Insurance' }]);
    heard.responds(({ url }) => Response.redirect(`${url}/`, 301)); // to what is a secret
    const failed = await test();
    expect(failed.problem).toBe('returned a redirect (301)');
    expect((await operator.delete(`/operator/channels/${channel.id}`)).data).toEqual(failed);
    expect((await operator.get(channels)).data).toEqual([]);
    const log = await auditOf(us);
    const noted = { actor: 'operator', subject: 'team channel', subjectName: 'Ops' };
    expect(log.slice(0, 2)).toMatchObject([
      { action: 'deleted', ...noted },
      { action: 'created', ...noted },
    ]);
    expect(JSON.stringify([stored, failed, log])).not.toContain('SECRET');
  });
});

it('a channel that operators added with any risk keeps it when people save its form', async () => {
  const body = { ...ops, minEventRisk: 2 };
  const path = `/operator/accounts/${us.accountId}/channels`;
  const { data } = await operator.post<{ id: string }>(path, body);
  const form = await ann.page(`${notifications}/channels/${data.id}`);
  await form.press('Save', { name: 'Night shift' });
  expect(await rows('select name, risk from mail_rules join alert_channels')).toEqual([
    { name: 'Night shift', risk: 2 },
  ]);
});

describe('a channel is notified', () => {
  it('of webhooks that are paused, as people are, unless it is not to be', async () => {
    await addChannel();
    const quiet = 'https://quiet.example.com/';
    await addChannel({ url: quiet, alerts: '' });
    await fail([(await register()).id], time.now);
    await pass(75);
    await allSent();
    const subject = 'Deliveries to receiver.example.com are paused';
    expect(got()).toMatchObject([{ kind: 'paused', subject, account: 'Acme Insurance' }]);
    expect(got(quiet)).toEqual([]);
  });

  it('of accidents and safety events by its rule', async () => {
    await addChannel({ alerts: '', levels: '1', risk: '4' });
    const eventTime = ago(0);
    await send(
      vehicle(),
      accident({ sourceId: 'crash', eventTime }),
      safetyEvent({ sourceId: 'brake', startedAt: eventTime, eventRisk: 4 }),
      safetyEvent({ sourceId: 'light', startedAt: eventTime, eventRisk: 3 }),
    );
    await sendRecordAlerts(env);
    await allSent();
    const texts = got().flatMap(({ parts }) => parts.map(({ text }) => text.split(', 2')[0]));
    expect(texts).toEqual(['Accident, level 1, first detection', 'Harsh Braking, risk 4']);
  });

  it('where the deployment sends no email as well', async () => {
    await addChannel();
    const bindings = { ...env, EMAIL_FROM: undefined } as unknown as Env; // as deployed without
    await fail([(await register()).id], time.now);
    await pass(15, bindings);
    await allSent();
    expect(got()).toHaveLength(1);
    expect(mails()).toEqual([]);
  });
});
