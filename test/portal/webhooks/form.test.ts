import { beforeEach, describe, expect, it } from 'vitest';
import { ask, follow, formOn, signIn, textOf } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { addRows, rows } from '../../support/rows.ts';
import { as, type WebhookOut, webhookBody, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara', 'geotab'] });
let cookie: string;
let webhook: WebhookOut;

beforeEach(async () => {
  cookie = (await signIn(us)).cookie;
  webhook = await register({ headers: { 'X-Secret': 's3cret' } });
});

const register = async (changes: object) =>
  (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us, changes))).data;

/** Another tab, or a client of the API, changes the webhook. */
const meanwhile = (changes: object) => {
  const { id, createdAt: _, ...now } = webhook;
  return as(us.apiToken).put(`/webhook/${id}`, { ...now, ...changes });
};

const open = async (query = '') =>
  formOn(await ask('GET', `/portal/webhooks/${webhook.id}/edit${query}`, { cookie }));

const save = (form: Awaited<ReturnType<typeof open>>, more: [string, string][] = []) =>
  ask('POST', `/portal/webhooks/${webhook.id}/edit`, { cookie, fields: [...form.fields(), ...more] });

const saved = async () => {
  const { data } = await as(us.apiToken).get<WebhookOut[]>('/webhooks');
  const found = data.find(({ id }) => id === webhook.id);
  return { ...found, connectionIds: found?.connectionIds.toSorted() };
};

const ids = () => us.connections.map(({ id }) => id).toSorted();

describe('saving a webhook', () => {
  it('changes nothing that the person did not change', async () => {
    const before = await saved();
    const page = await follow(await save(await open()), cookie);
    expect(page).toContain('Webhook "receiver.example.com" was saved.');
    expect(await saved()).toEqual(before);
  });

  it('changes its address, method, types, connections and headers, whose values the form does not hold', async () => {
    const [first = '', second = '', third = ''] = ids();
    const form = await open();
    expect(form.values('headerName')).toEqual(['X-Secret', '', '']);
    expect(form.fields().join()).not.toContain('s3cret');
    form.type('url', 'https://receiver.example.com/moved');
    form.type('httpVerb', 'PUT');
    form.check('notificationTypes', '1', false);
    form.check('connectionIds', second, false);
    form.type('headerName', 'X-Mine', 1);
    form.type('headerValue', 'mine', 1);
    await save(form);
    expect(await saved()).toMatchObject({
      url: 'https://receiver.example.com/moved',
      httpVerb: 'PUT',
      notificationTypes: [2],
      connectionIds: [first, third],
      headers: { 'X-Secret': 's3cret', 'X-Mine': 'mine' },
    });
  });

  it('keeps connections that the form did not show', async () => {
    await addRows('connections', 1200, (i) => ({
      account_id: us.accountId,
      created_at: i,
      provider: 'motive',
    }));
    const all = (
      await rows('select id from connections where account_id = ?1 order by id', us.accountId)
    ).map(({ id }) => String(id));
    const chosen = all.slice(-1000); // the form lists the oldest
    await meanwhile({ connectionIds: chosen });
    const form = await open();
    const [unchecked = '', ...others] = form.checked('connectionIds');
    expect(others.length).toBeLessThan(900);
    form.check('connectionIds', unchecked, false);
    expect((await save(form)).status).toBe(303);
    expect((await saved()).connectionIds).toEqual(chosen.filter((id) => id !== unchecked));
  });

  it('is refused if somebody else has changed it since, until the form is opened again', async () => {
    const form = await open();
    await meanwhile({ notificationTypes: [1] });
    form.type('httpVerb', 'PUT');
    const reply = await save(form);
    expect(reply.status).toBe(400);
    expect(await textOf(reply.clone())).toContain(
      'This webhook has been changed since you opened it. Open it again',
    );
    expect((await save(await formOn(reply))).status).toBe(400);
    expect(await saved()).toMatchObject({ notificationTypes: [1], httpVerb: 'POST' });
  });
});

it('a header gets another value, is shown with it on request, needs one if it is new, and goes with its name', async () => {
  const form = await open();
  form.type('headerValue', 'other');
  await save(form);
  const revealed = await open('?reveal=yes');
  expect(revealed.values('headerValue')[0]).toBe('other');
  for (const name of ['X-New', 'constructor']) {
    revealed.type('headerName', name, 1);
    const refused = await save(revealed);
    expect(refused.status).toBe(400);
    expect(await textOf(refused)).toContain('need a value, if they are new');
  }
  revealed.type('headerName', '');
  revealed.type('headerName', '', 1);
  await save(revealed);
  expect((await saved()).headers).toEqual({});
});

it('adding a webhook saves all that the form holds', async () => {
  const path = '/portal/webhooks/new';
  const form = await formOn(await ask('GET', path, { cookie }));
  form.type('url', 'https://receiver.example.com/new');
  form.check('connectionIds', us.connection.id, false);
  form.type('headerName', 'X-Mine');
  form.type('headerValue', 'mine');
  const reply = await ask('POST', path, { cookie, fields: form.fields() });
  webhook = { ...webhook, id: reply.headers.get('location')?.split('/').at(-1) ?? '' };
  expect(await saved()).toMatchObject({
    url: 'https://receiver.example.com/new',
    httpVerb: 'POST',
    headers: { 'X-Mine': 'mine' },
    notificationTypes: [1, 2],
    connectionIds: ids().filter((id) => id !== us.connection.id),
  });
});

describe('a button of the form', () => {
  const press = async (button: string, ...typed: [name: string, value: string][]) => {
    const form = await open();
    for (const one of typed) form.type(...one);
    return save(form, [['do', button]]);
  };

  it('adds a secret in a header of its own, or makes another, which is saved with the form', async () => {
    const reply = await press('secret', ['httpVerb', 'PUT']);
    expect(reply.status).toBe(200);
    const once = await formOn(reply);
    const form = await formOn(await save(once, [['do', 'secret']]));
    expect(form.values('headerName')).toEqual(['X-Secret', 'X-Webhook-Secret', '', '']);
    const secret = form.values('headerValue')[1] ?? '';
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect(secret).not.toBe(once.values('headerValue')[1]);
    await save(form);
    expect(await saved()).toMatchObject({
      httpVerb: 'PUT',
      headers: { 'X-Secret': 's3cret', 'X-Webhook-Secret': secret },
    });
  });

  it('sends a test of what is typed, with the headers that are kept, and saves nothing', async () => {
    const heard = receiver(() => new Response('who are you?', { status: 401 }));
    const before = await saved();
    const reply = await press('test', ['url', 'https://receiver.example.com/tried']);
    const text = await textOf(reply);
    expect(text).toMatch(
      /Your receiver returned 401 Unauthorized in \d+ ms\. Only a 2xx status counts as delivered\. who are you\?/,
    );
    expect(heard.got).toMatchObject([
      {
        url: 'https://receiver.example.com/tried',
        headers: { 'x-secret': 's3cret', 'delivery-id': expect.any(String) },
        body: { type: 2, data: { vehicleName: 'TEST vehicle (made up)' } },
      },
    ]);
    expect(await saved()).toEqual(before);
    expect((await press('test', ['url', 'https://10.0.0.1/'])).status).toBe(400);
    expect(heard.got).toHaveLength(1);
  });

  it('sends ten tests an hour to a host, however it is written, and whoever sends them', async () => {
    const hour = Math.floor(Date.now() / 3_600_000);
    const test = (url: string) => press('test', ['url', url]);
    await rows(
      `insert into test_calls values (?1, 'busy.example.com', 9), (1, 'busy.example.com', 10)`,
      hour,
    );
    const heard = receiver();
    expect((await test('https://busy.example.com/a')).status).toBe(200);
    const refused = await test('https://BUSY.example.com.:8443/b');
    expect(await textOf(refused)).toContain('has a host that was tested 10 times within the hour');
    expect((await test('https://idle.example.com/')).status).toBe(200);
    expect(heard.got).toHaveLength(2);
    expect(await rows(`select calls from test_calls where host = 'busy.example.com'`)).toEqual([
      { calls: 10 },
    ]);
  });
});

it('a name and a description are shown in the portal, kept by the API, and not shown there', async () => {
  const form = await open();
  form.type('name', 'Claims intake');
  form.type('description', 'Run by the claims team');
  await save(form);
  await meanwhile({ httpVerb: 'PUT' });
  expect(Object.keys(await saved())).not.toContain('name');
  const page = await textOf(await ask('GET', `/portal/webhooks/${webhook.id}`, { cookie }));
  expect(page).toContain('Claims intake');
  expect(page).toContain('Run by the claims team');
  expect(await textOf(await ask('GET', '/portal/webhooks', { cookie }))).toContain('Claims intake');
  const again = await open();
  again.type('name', '');
  await save(again);
  expect(await textOf(await ask('GET', '/portal/webhooks', { cookie }))).not.toContain('Claims intake');
});

it('a form that was not filled in well says once what is wrong, under the field, and comes back as it was sent', async () => {
  const [first = '', second = '', third = ''] = ids();
  const form = await open();
  form.type('url', 'http://receiver.example.com/');
  form.check('connectionIds', second, false);
  const reply = await save(form);
  expect(reply.status).toBe(400);
  const html = await reply.clone().text();
  expect(html.split('Must start with https://')).toHaveLength(2);
  expect(html).not.toContain('Invalid URL');
  expect(html).toContain('<title>Error: Edit webhook');
  const again = await formOn(reply);
  const other = await register({ url: 'https://receiver.example.com/other' });
  again.type('url', other.url);
  expect(await textOf(await save(again))).toContain('Another webhook of your account has this URL.');
  again.type('url', 'https://receiver.example.com/right');
  await save(again);
  expect(await saved()).toMatchObject({
    url: 'https://receiver.example.com/right',
    connectionIds: [first, third],
    headers: { 'X-Secret': 's3cret' },
  });
});
