import { operatorIn } from '#src/core/accounts/accounts.ts';
import { findNamed, sliceWebhooks } from '#src/portal/read/read-webhooks.ts';
import { conditionOf } from '#src/portal/webhooks/webhooks.tsx';
import {
  addRows,
  metered,
  type Page,
  personBefore,
  register,
  rows,
  signIn,
  type WebhookOut,
  webhooksOf,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara', 'geotab');
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

const path = ({ id } = webhook) => `/portal/webhooks/${id}`;
const open = (query = '') => page(`${path()}/edit${query}`);
const save = (form: Page, typed: Parameters<Page['press']>[1] = {}) =>
  form.press('Save changes', typed);
const host = 'https://receiver.example.com';

const saved = async () => {
  const found = (await webhooksOf(us)).find(({ id }) => id === webhook.id);
  return { ...found, connectionIds: found?.connectionIds.toSorted() };
};

const ids = () => us.connections.map(({ id }) => id).toSorted();

it('saving a webhook changes nothing that the person did not change', async () => {
  const before = await saved();
  expect((await save(await open())).text).toContain('Webhook "receiver.example.com" was saved.');
  expect(await saved()).toEqual(before);
});

it('saving a webhook changes everything, and keeps headers that are not shown', async () => {
  const form = await open();
  expect(form.form().values('headerName')).toEqual(['X-Secret', '', '']);
  expect(form.html).not.toContain('s3cret');
  const typed = { URL: `${host}/moved`, Method: 'PUT', Accidents: false, Samsara: false };
  await save(form, { ...typed, 'Header 2 name': 'X-Mine', 'Header 2 value': 'mine' });
  expect(await saved()).toMatchObject({
    url: `${host}/moved`,
    httpVerb: 'PUT',
    notificationTypes: [2],
    connectionIds: ids().filter((id) => id !== us.connections[1]?.id),
    headers: { 'X-Secret': 's3cret', 'X-Mine': 'mine' },
  });
});

it('saving a webhook keeps connections that the form did not show', {
  tags: ['proof'],
}, async () => {
  const fields = { account_id: us.accountId, provider: 'motive' };
  await addRows('connections', 1200, (i) => ({ ...fields, created_at: i }));
  const of = 'select id from connections where account_id = ?1 order by id';
  const all = await rows(of, us.accountId);
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
  expect(refused.text).toContain('This webhook has been changed since you opened it.');
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

it('a new webhook is saved as typed', async () => {
  const form = await page('/portal/webhooks/new');
  const typed = { URL: `${host}/new`, Motive: false, 'Header 1 name': 'X-Mine' };
  const added = await form.press('Add webhook', { ...typed, 'Header 1 value': 'mine' });
  expect(added.text).toContain('Webhook "receiver.example.com" was added');
  expect((await webhooksOf(us)).find(({ url }) => url === typed.URL)).toMatchObject({
    httpVerb: 'POST',
    headers: { 'X-Mine': 'mine' },
    notificationTypes: [1, 2],
    connectionIds: expect.not.arrayContaining([us.connection.id]),
  });
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

it('a name and a description are shown here, kept by the API, not shown there', async () => {
  await save(await open(), { Name: 'Claims intake', Description: 'Run by the claims team' });
  await meanwhile({ httpVerb: 'PUT' });
  expect(Object.keys(await saved())).not.toContain('name');
  const { heading, text } = await page(path());
  expect(heading).toBe('Claims intake');
  expect(text).toContain('Run by the claims team');
  expect(await textAt('/portal/webhooks')).toContain('Claims intake');
  await save(await open(), { Name: '' });
  expect(await textAt('/portal/webhooks')).not.toContain('Claims intake');
});

it('a form says once what is wrong, and comes back as it was sent', async () => {
  const { url } = await register(us, { url: `${host}/other` });
  const refused = await save(await open(), { URL: 'http://receiver.example.com/', Samsara: false });
  expect(refused.status).toBe(400);
  expect(refused.title).toMatch(/^Error: Edit webhook/);
  expect(refused.errors).toEqual({
    url: 'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  });
  expect(refused.all('#url')[0]?.getAttribute('aria-describedby')).toContain('url-error');
  const again = await save(refused, { URL: url });
  expect(again.errors).toEqual({ url: 'Another webhook of your account has this URL.' });
  await save(again, { URL: `${host}/right` });
  expect(await saved()).toMatchObject({
    url: `${host}/right`,
    connectionIds: ids().filter((id) => id !== us.connections[1]?.id),
    headers: { 'X-Secret': 's3cret' },
  });
});

it.each([
  ['choices', { Accidents: false, 'Safety events': false }, 'notificationTypes-error'],
  ['headers', { 'Header 1 name': 'Host' }, 'headers-error'],
])('what is wrong with %s has the focus, so that it is in view', async (_, typed, id) =>
  expect((await save(await open(), typed)).all('[autofocus]').map((one) => one.id)).toEqual([id]),
);

it('a webhook is deleted on a page of its own, after a question', async () => {
  const left = await (await page(`${path()}/delete`)).press('Delete this webhook');
  expect(left.text).toContain('Webhook "receiver.example.com" was deleted.');
  expect(left.text).toContain('No webhooks yet');
});

it('names the connections of a webhook, and says if it has none', async () => {
  const none = await register(us, { connectionIds: [] });
  expect(await textAt(path())).toMatch(/Accidents and safety events from .*Motive/);
  expect(await textAt(path(none))).toMatch(/from no connection.*None, so nothing is sent/);
  expect(await textAt('/portal/webhooks')).toContain('No connections');
  expect(conditionOf({ isPaused: false, connections: 1 }).children).toBe('Active'); // without extras
});

it('shows the query of a URL to those who may change it, and not to viewers', async () => {
  const hook = await register(us, { url: `${host}/hook?key=s3cret&t0ken` });
  for (const [role, shown] of [
    ['member', '/hook?key=s3cret&t0ken'],
    ['viewer', '/hook?key=…&…'],
  ] as const) {
    const { textAt } = await signIn(us, role);
    for (const text of [await textAt('/portal/webhooks'), await textAt(path(hook))]) {
      expect(text).toContain(shown);
      if (role === 'viewer') expect(text).not.toMatch(/s3cret|t0ken/);
    }
  }
});

it('a page of webhooks reads few rows of each, and the page of one in one round trip', async () => {
  const caller = operatorIn(us.accountId);
  await addRows('connections', 50, () => ({ account_id: us.accountId, provider: 'motive' }));
  const { id } = await register(us, { connectionIds: undefined, allConnections: true });
  const connectionIds = [us.connection.id];
  for (let i = 0; i < 3; i++) await register(us, { connectionIds });
  const list = metered();
  const { items, next } = await sliceWebhooks(list.env, caller, { limit: 3 });
  expect(items.map(({ connections }) => connections)).toEqual([2, 2, 1]);
  expect(list.cost).toMatchObject({ trips: 1, written: 0 });
  expect(list.cost.read).toBeLessThanOrEqual(30);
  const rest = await sliceWebhooks(list.env, caller, { limit: 3, after: next });
  expect(rest.items).toHaveLength(2);
  const one = metered();
  expect((await findNamed(one.env, caller, id))?.connections).toHaveLength(6);
  expect(one.cost).toMatchObject({ trips: 1, written: 0 });
});
