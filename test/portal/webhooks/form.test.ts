import { type Page, personBefore } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { register, type WebhookOut, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara', 'geotab'] });
let webhook: WebhookOut;
const { page, textAt } = personBefore(beforeEach, us);

beforeEach(async () => {
  webhook = await register(us, { headers: { 'X-Secret': 's3cret' } });
});

/** Another tab, or a client of the API, changes the webhook. */
const meanwhile = (changes: object) => {
  const { id, createdAt: _, ...now } = webhook;
  return us.api.put(`/webhook/${id}`, { ...now, ...changes });
};

const open = (query = '') => page(`/portal/webhooks/${webhook.id}/edit${query}`);
const save = (form: Page, typed: Parameters<Page['press']>[1] = {}) =>
  form.press('Save changes', typed);

const saved = async () => {
  const { data } = await us.api.get<WebhookOut[]>('/webhooks');
  const found = data.find(({ id }) => id === webhook.id);
  return { ...found, connectionIds: found?.connectionIds.toSorted() };
};

const ids = () => us.connections.map(({ id }) => id).toSorted();

it('saving a webhook changes nothing that the person did not change', async () => {
  const before = await saved();
  expect((await save(await open())).text).toContain('Webhook "receiver.example.com" was saved.');
  expect(await saved()).toEqual(before);
});

it('saving a webhook changes everything, and keeps headers that are not shown', async () => {
  const [first = '', , third = ''] = ids();
  const form = await open();
  expect(form.form().values('headerName')).toEqual(['X-Secret', '', '']);
  expect(form.html).not.toContain('s3cret');
  await save(form, {
    URL: 'https://receiver.example.com/moved',
    Method: 'PUT',
    Accidents: false,
    Samsara: false,
    'Header 2 name': 'X-Mine',
    'Header 2 value': 'mine',
  });
  expect(await saved()).toMatchObject({
    url: 'https://receiver.example.com/moved',
    httpVerb: 'PUT',
    notificationTypes: [2],
    connectionIds: [first, third],
    headers: { 'X-Secret': 's3cret', 'X-Mine': 'mine' },
  });
});

it('saving a webhook keeps connections that the form did not show', async () => {
  const fields = { account_id: us.accountId, provider: 'motive' };
  await addRows('connections', 1200, (i) => ({ ...fields, created_at: i }));
  const all = await rows(
    'select id from connections where account_id = ?1 order by id',
    us.accountId,
  );
  const chosen = all.slice(-1000).map(({ id }) => String(id)); // the form lists the oldest
  await meanwhile({ connectionIds: chosen });
  const form = await open();
  const listed = form.all('input[type=checkbox][name=connectionIds][checked]');
  expect(listed.length).toBeLessThan(901);
  const [unchecked = '', ...others] = listed.map((box) => box.getAttribute('value') ?? '');
  expect((await save(form, { 'Only these connections': others })).status).toBe(303);
  expect((await saved()).connectionIds).toEqual(chosen.filter((id) => id !== unchecked));
});

it('saving a webhook is refused if it has been changed since', async () => {
  const form = await open();
  await meanwhile({ notificationTypes: [1] });
  const refused = await save(form, { Method: 'PUT' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(
    'This webhook has been changed since you opened it. Open it again',
  );
  expect((await save(refused)).status).toBe(400);
  expect(await saved()).toMatchObject({ notificationTypes: [1], httpVerb: 'POST' });
});

it('a header gets a value, is shown on request, and goes with its name', async () => {
  await save(await open(), { 'Header 1 value': 'other' });
  const revealed = await open('?reveal=yes');
  expect(revealed.form().values('Header 1 value')).toEqual(['other']);
  for (const name of ['X-New', 'constructor']) {
    const { status, errors } = await save(revealed, { 'Header 2 name': name });
    expect([status, errors.headers]).toEqual([400, 'need a value']);
  }
  await save(revealed, { 'Header 1 name': '' });
  expect((await saved()).headers).toEqual({});
});

it('a new webhook is saved as typed, and signed unless that is unchecked', async () => {
  const add = async (typed: object) =>
    (await page('/portal/webhooks/new')).press('Add webhook', { ...typed });
  const header = { 'Header 1 name': 'X-Mine', 'Header 1 value': 'mine' };
  const signed = await add({
    URL: 'https://receiver.example.com/signed',
    Motive: false,
    ...header,
  });
  expect(signed.text).toMatch(
    /Webhook "receiver.example.com" was added.*Copy the signing secret now .* whsec_/,
  );
  const [next = ''] = signed.links('Continue');
  webhook = { ...webhook, id: next.split('/')[3] ?? '' };
  expect(await saved()).toMatchObject({
    ...{
      url: 'https://receiver.example.com/signed',
      httpVerb: 'POST',
      headers: { 'X-Mine': 'mine' },
    },
    ...{ signing: true, notificationTypes: [1, 2] },
    connectionIds: ids().filter((id) => id !== us.connection.id),
  });
  expect(await textAt(next)).not.toContain('whsec_');
  const plain = await add({ URL: 'https://receiver.example.com/plain', 'Sign deliveries': false });
  webhook = { ...webhook, id: plain.path.split('/').at(-1) ?? '' };
  expect(await saved()).not.toHaveProperty('signing');
  expect((await open()).text).not.toContain('Sign deliveries');
  await save(await open());
  expect(await saved()).not.toHaveProperty('signing');
});

it('a button of the form adds a secret in a header, or makes another', async () => {
  const generate = 'Generate a secret';
  const once = await (await open()).press(generate, { Method: 'PUT' });
  expect(once.status).toBe(200);
  const form = await once.press(generate);
  expect(form.form().values('headerName')).toEqual(['X-Secret', 'X-Webhook-Secret', '', '']);
  const [secret = ''] = form.form().values('Header 2 value');
  expect(secret).toMatch(/^[\w-]{32}$/);
  expect(once.form().values('Header 2 value')).not.toEqual([secret]);
  await save(form);
  expect(await saved()).toMatchObject({
    httpVerb: 'PUT',
    headers: { 'X-Secret': 's3cret', 'X-Webhook-Secret': secret },
  });
});

const test = async (URL: string) => (await open()).press('Send a test', { URL });

it('a button of the form sends a test of what is typed, and saves nothing', async () => {
  const heard = receiver(() => new Response('who are you?', { status: 401 }));
  const before = await saved();
  expect((await test('https://receiver.example.com/tried')).text).toMatch(
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
  expect((await test('https://10.0.0.1/')).status).toBe(400);
  expect(heard.got).toHaveLength(1);
});

it.each([
  ['of an account to a host, however it is written', () => `${us.accountId} busy.example.com`, 10],
  ['of all accounts to a receiver', () => 'busy.example.com', 60],
])('a button of the form sends so many tests %s within an hour', async (_, host, most) => {
  const hour = Math.floor(Date.now() / 3_600_000);
  await rows('delete from test_calls');
  await rows(
    `insert into test_calls values (?1, ?2, ?3), (1, ?2, ?4)`,
    hour,
    host(),
    most - 1,
    most,
  );
  const heard = receiver();
  expect((await test('https://busy.example.com/a')).status).toBe(200);
  const refused = await test('https://BUSY.example.com.:8443/b');
  expect(refused.text).toContain(`has a host that was tested ${most} times within the hour`);
  expect((await test('https://idle.example.com/')).status).toBe(200);
  expect(heard.got).toHaveLength(2);
  expect(await rows('select calls from test_calls where host = ?1', host())).toEqual([
    { calls: most },
  ]);
});

it('a name and a description are shown here, kept by the API, not shown there', async () => {
  await save(await open(), { Name: 'Claims intake', Description: 'Run by the claims team' });
  await meanwhile({ httpVerb: 'PUT' });
  expect(Object.keys(await saved())).not.toContain('name');
  const { heading, text } = await page(`/portal/webhooks/${webhook.id}`);
  expect(heading).toBe('Claims intake');
  expect(text).toContain('Run by the claims team');
  expect(await textAt('/portal/webhooks')).toContain('Claims intake');
  await save(await open(), { Name: '' });
  expect(await textAt('/portal/webhooks')).not.toContain('Claims intake');
});

it('a form says once what is wrong, and comes back as it was sent', async () => {
  const [first = '', , third = ''] = ids();
  const { url } = await register(us, { url: 'https://receiver.example.com/other' });
  const refused = await save(await open(), { URL: 'http://receiver.example.com/', Samsara: false });
  expect(refused).toMatchObject({
    status: 400,
    title: expect.stringMatching(/^Error: Edit webhook/),
  });
  expect(refused.errors).toEqual({
    url: 'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  });
  const again = await save(refused, { URL: url });
  expect(again.errors).toEqual({ url: 'Another webhook of your account has this URL.' });
  await save(again, { URL: 'https://receiver.example.com/right' });
  expect(await saved()).toMatchObject({
    url: 'https://receiver.example.com/right',
    connectionIds: [first, third],
    headers: { 'X-Secret': 's3cret' },
  });
});
