import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { through } from '#src/core/platform/db/through.ts';
import { startWindowMs } from '#src/core/webhooks/deliveries/policy.ts';
import { maxWebhooks } from '#src/core/webhooks/fields.ts';
import { parseWebhook } from '#src/core/webhooks/schema.ts';
import { deleteWebhook, maxWebhookBytes, updateWebhook } from '#src/core/webhooks/service.ts';
import {
  addRows,
  addWebhooks,
  anyTime,
  as,
  createWebhook,
  invalid,
  issueToken,
  newId,
  replaceWebhook,
  rows,
  times,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '#test/support.ts';

let us: World;
let them: World;
beforeAll(async () => {
  us = await world('motive', 'samsara');
  them = await world();
});
const create = (changes?: object) => createWebhook(us, changes);
const read = async (id: string) => (await us.api.get<WebhookOut>(`/webhook/${id}`)).data;

const addConnections = (account_id: string, ids: string[]) =>
  addRows('connections', ids.length, (i) => ({ id: ids[i], account_id, provider: 'motive' }));

describe('a webhook', () => {
  it('is created with 200 and answered with every field of the spec', async () => {
    const url = 'https://Keep.example.com./hook#one';
    const headers = { 'X-Secret': 'quiet', 'X-B': '2' };
    const body = webhookBody(us, { url, httpVerb: 'PUT', headers });
    const reply = await create(body);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook created' });
    expect(reply.data).toEqual({ ...body, id: expect.any(String), createdAt: anyTime });
  });

  it('is listed with all others of its account, in one unpaginated reply', async () => {
    const ids = us.connections.map(({ id }) => id).toSorted();
    for (const connectionIds of [ids, ids.toReversed()]) {
      const created = await create({ connectionIds });
      const list = await us.api.get<WebhookOut[]>('/webhooks');
      expect(list.data).toContainEqual(created.data);
      expect(list).not.toHaveProperty('next');
    }
  });

  it('can be read by itself, by a read-only token without its headers', async () => {
    const { data } = await create({ headers: { 'X-Secret': 'ours' } });
    const path = `/webhook/${data.id}`;
    expect(await us.api.get(path)).toMatchObject({ message: 'Webhook', data });
    const reader = as((await issueToken(us.accountId, { readOnly: true })).value);
    const shown = { ...data, headers: {} };
    expect((await reader.get(path)).data).toEqual(shown);
    expect((await reader.get('/webhooks')).data).toContainEqual(shown);
  });

  it('needs no headers, and drops repeated types and connections', async () => {
    const { id } = us.connection;
    const twice = { notificationTypes: [2, 2], connectionIds: [id, id.toUpperCase()] };
    const once = { headers: {}, notificationTypes: [2], connectionIds: [id] };
    expect((await create({ headers: undefined, ...twice })).data).toMatchObject(once);
  });

  it('is replaced by an update, which leaves createdAt alone', async () => {
    const { id, createdAt } = (await create()).data;
    const body = webhookBody(us, { connectionIds: [], notificationTypes: [1], httpVerb: 'PUT' });
    const data = { ...body, id, createdAt };
    const message = 'Webhook updated';
    expect(await us.api.put(`/webhook/${id}`, body)).toMatchObject({ status: 200, message, data });
    expect(await read(id)).toEqual(data);
  });

  it('may be sent back as it was read, but not to another', async () => {
    const [{ data: created }, { data: other }] = [await create(), await create()];
    await us.api.post(`/webhook/${created.id}/pause`, {});
    const data = await read(created.id);
    expect(data).toEqual({ ...created, pausedAt: expect.any(String) });
    const put = (id: string) => us.api.put(`/webhook/${id}`, data);
    expect(await put(created.id.toUpperCase())).toMatchObject({ status: 200, data });
    expect(await put(other.id)).toMatchObject(invalid('id must be that of the path', 'id'));
  });

  it('has its headers replaced by an update, which must name them and may leave out the rest', async () => {
    const { headers, ...body } = webhookBody(us, { notificationTypes: [2] });
    const { id, ...before } = (await create({ ...body, headers: { 'X-Secret': 's3cret' } })).data;
    const put = (fields: object) => us.api.put(`/webhook/${id}`, { ...body, ...fields });
    for (const without of [{}, { allConnections: true }])
      expect(await put(without)).toMatchObject(invalid('headers is required', 'headers'));
    expect(await read(id)).toMatchObject(before);
    for (const given of [{ 'X-Other': '1' }, headers]) {
      const data = { ...before, headers: given };
      expect(await put({ headers: given })).toMatchObject({ status: 200, data });
      expect((await read(id)).headers).toEqual(given);
    }
  });

  it('is gone once deleted', async () => {
    const path = `/webhook/${(await create()).data.id}`;
    const deleted = { status: 200, message: 'Webhook deleted', data: true };
    expect(await us.api.delete(path)).toMatchObject(deleted);
    expect(await us.api.delete(path)).toMatchObject(invalid('Invalid webhook id'));
  });

  it('is changed and deleted though D1 fails behind that, as soon as no call can start', async () => {
    const { data } = await create();
    let isDone = false;
    const DB = through(env.DB, async (run, statements) => {
      if (isDone) throw new Error('D1 DB is overloaded. Requests queued for too long.');
      isDone = statements.some(({ text }) => /^(?:update|delete from) "webhooks"/.test(text));
      return run();
    });
    const waits = vi.spyOn(scheduler, 'wait').mockResolvedValue();
    const call = [{ ...env, DB }, operatorIn(us.accountId), data.id] as const;
    const input = parseWebhook(webhookBody(us), { allowLoopback: false });
    expect(await updateWebhook(...call, input)).toMatchObject({ id: data.id, url: input.url });
    expect(waits).toHaveBeenLastCalledWith(startWindowMs);
    isDone = false;
    await deleteWebhook(...call);
    vi.restoreAllMocks();
    expect(await us.api.get(`/webhook/${data.id}`)).toMatchObject(invalid('Invalid webhook id'));
  });

  it('has a url of its own in its account, also of two racing creates, in another spelling', async () => {
    const urls = ['https://race.example.com/hook', 'HTTPS://RACE.example.com.:443/hook#2'];
    const replies = await Promise.all(urls.map((url) => create({ url })));
    const messages = ['Webhook created', 'Webhook with this URL already exist'];
    expect(replies.map(({ message }) => message).sort()).toEqual(messages);
    expect((await createWebhook(them, { url: urls[0] })).status).toBe(200);
  });

  it('names up to 1,000 connections, which fit into a request with everything else', async () => {
    const connectionIds = Array.from({ length: 1000 }, newId);
    await addConnections(us.accountId, connectionIds);
    const headers = { 'X-Long': 'x'.repeat(8000) };
    const url = `https://many.example.com/${'x'.repeat(2000)}`;
    expect((await create({ connectionIds, headers, url })).data.connectionIds).toHaveLength(1000);
    expect(await create({ connectionIds: [...connectionIds, us.connection.id] })).toMatchObject(
      invalid('connectionIds can have at most 1,000 values', 'connectionIds'),
    );
  });

  it('is one of at most 1,000 of its account', async () => {
    const us = await world();
    await addWebhooks(us.accountId, maxWebhooks - 1);
    expect((await createWebhook(us)).status).toBe(200);
    const message = `An account can have at most ${maxWebhooks} webhooks`; // as the documents have it
    expect(await createWebhook(us)).toMatchObject(invalid(message));
  });

  it('leaves the webhooks of its account small enough to be listed in one reply', async () => {
    const us = await world();
    const [own = '', other] = await addWebhooks(us.accountId, 2);
    const create = (changes?: object) => createWebhook(us, changes);
    const saves = async () => [
      await replaceWebhook(us, own, {}),
      await create(),
      await create({ allConnections: true }),
    ];
    const fill = (bytes: number) => {
      const headers = JSON.stringify({ ct: 'x'.repeat(bytes) });
      return rows('update webhooks set headers = ?2 where id = ?1', other, headers);
    };
    const full = 'The webhooks of an account can be at most 2 MB in all';
    await fill(maxWebhookBytes);
    for (const saved of await saves()) expect(saved).toMatchObject(invalid(full, 'connectionIds'));
    // Each connection counts as 39 bytes, and one that covers all as 1,000 of them.
    await fill(maxWebhookBytes - 20_000);
    const connectionIds = Array.from({ length: 500 }, newId);
    await addConnections(us.accountId, connectionIds);
    const saved = [...(await saves()), await create({ connectionIds })];
    expect(saved.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
    await fill(maxWebhookBytes - 41_000);
    const both = [await create({ allConnections: true }), await create({ allConnections: true })];
    expect(both.map(({ status }) => status)).toEqual([200, 400]);
  });
});

describe('a webhook is refused', () => {
  const invisible = 'url must not contain white space, control characters';
  it.each<[field: string, message: string, value: unknown]>([
    ['url', 'url is required', undefined],
    ['url', "Invalid URL, must use 'https'", 7],
    ...['\n', ' ', '\u0085', '\u202e', '\u200b', '\u001b[2J'].map(
      (text): [string, string, unknown] => ['url', invisible, `https://example.com/a${text}b`],
    ),
    ['url', 'url can be at most 2,048 characters', `https://example.com/${'x'.repeat(10_000)}`],
    ['httpVerb', 'httpVerb is required', undefined],
    ['notificationTypes.0', 'notificationTypes.0 must be 1 (accident) or 2 (event)', [3]],
    ['notificationTypes', 'notificationTypes must be an array', '2'],
    ['connectionIds.0', 'Invalid connection ids', ['x']],
    ['connectionIds', 'connectionIds is required', undefined],
    ['allConnections', 'allConnections must be true or false', 'yes'],
    ['headers', 'headers names must be RFC 9110', { 'X-A\r\nB': 'x' }],
    ['headers', 'headers values must be visible', { A: 'x\nB: y' }],
    ['headers', 'headers must be an object of strings', { A: 1 }],
    ['headers', 'headers must not name a header', { 'delivery-id': 'x' }],
    ['headers', 'headers must not name a header', { 'Webhook-Signature': 'v1,forged' }],
    ['headers', 'headers must not name a header twice', { A: '1', a: '2' }],
    [
      'headers',
      'headers can have at most 50 entries',
      Object.fromEntries(times(51, (i) => [`X-${i}`, ''])),
    ],
    ['headers', 'names of at most 128 characters', { ['x'.repeat(129)]: '' }],
    ['headers', 'headers can be at most 8 KiB', { A: 'x'.repeat(8192) }],
  ])('for its %s: %s', async (field, message, value) => {
    const reply = await create({ [field.split('.')[0] ?? '']: value });
    expect(reply).toMatchObject({ status: 400, requestId: expect.any(String) });
    expect(reply.message).toContain(message);
    expect(reply.errors?.map((error) => error.field)).toContain(field);
  });

  it('without a url, which is said before all else', async () => {
    const { id } = (await create()).data;
    const changed = await us.api.put(`/webhook/${id}`, { notificationTypes: [1] });
    for (const reply of [await us.api.post('/webhook', {}), changed])
      expect(reply).toMatchObject({ status: 400, message: 'url is required' });
  });
});
