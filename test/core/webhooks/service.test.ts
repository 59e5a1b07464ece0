import { newId } from '#src/core/platform/db/ids.ts';
import { maxWebhooks } from '#src/core/webhooks/fields.ts';
import { maxWebhookBytes } from '#src/core/webhooks/service.ts';
import { addRows, addWebhooks, rows } from '#test/support/rows.ts';
import {
  as,
  invalid,
  issueToken,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '#test/support/world.ts';

let us: World;
let them: World;
beforeAll(async () => {
  us = await world({ providers: ['motive', 'samsara'] });
  them = await world();
});
const create = (changes: object = {}, body: object = webhookBody(us, changes)) =>
  us.api.post<WebhookOut>('/webhook', body);
const read = async (id: string) => (await us.api.get<WebhookOut>(`/webhook/${id}`)).data;

const addConnections = (account_id: string, ids: string[]) =>
  addRows('connections', ids.length, (i) => ({ id: ids[i], account_id, provider: 'motive' }));

describe('a webhook', () => {
  it('is created with 200 and answered with every field of the spec', async () => {
    const url = 'https://Keep.example.com./hook#one';
    const body = webhookBody(us, {
      url,
      httpVerb: 'PUT',
      headers: { 'X-Secret': 'quiet', 'X-B': '2' },
    });
    const reply = await create({}, body);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook created', data: body });
    expect(Object.keys(reply.data).sort()).toEqual(
      [
        'connectionIds',
        'createdAt',
        'headers',
        'httpVerb',
        'id',
        'notificationTypes',
        'url',
      ].sort(),
    );
    expect(reply.data.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('is listed with all others of its account, in one unpaginated reply', async () => {
    const ids = us.connections.map(({ id }) => id).toSorted();
    for (const connectionIds of [ids, ids.toReversed()]) {
      const created = await create({ connectionIds });
      const list = await us.api.get<WebhookOut[]>('/webhooks');
      expect(list.data.find(({ id }) => id === created.data.id)).toEqual(created.data);
    }
    const list = await us.api.get<WebhookOut[]>('/webhooks');
    expect(list).not.toHaveProperty('next');
  });

  it('can be read by itself, by a read-only token without its headers', async () => {
    const { data } = await create();
    const path = `/webhook/${data.id}`;
    expect(await us.api.get(path)).toMatchObject({ message: 'Webhook', data });
    const reader = await issueToken(us.accountId, { readOnly: true });
    expect((await as(reader.value).get(path)).data).toEqual({ ...data, headers: {} });
    for (const reply of [await them.api.get(path), await us.api.get('/webhook/none')])
      expect(reply).toMatchObject(invalid('Invalid webhook id'));
  });

  it('needs no headers, and drops repeated types and connections', async () => {
    const { headers: _, ...body } = webhookBody(us, {
      notificationTypes: [2, 2],
      connectionIds: [us.connection.id, us.connection.id.toUpperCase()],
    });
    const reply = await create({}, body);
    expect(reply.data).toMatchObject({
      headers: {},
      notificationTypes: [2],
      connectionIds: [us.connection.id],
    });
  });

  it('is replaced by an update, which leaves createdAt alone', async () => {
    const before = (await create()).data;
    const body = webhookBody(us, { connectionIds: [], notificationTypes: [1], httpVerb: 'PUT' });
    const reply = await us.api.put<WebhookOut>(`/webhook/${before.id}`, body);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook updated' });
    expect(reply.data).toEqual({ ...body, id: before.id, createdAt: before.createdAt });
    expect(await read(before.id)).toEqual(reply.data);
  });

  it('may be sent back as it was read, but not to another', async () => {
    const created = (await create()).data;
    const other = (await create()).data;
    await us.api.post(`/webhook/${created.id}/pause`, {});
    const found = await read(created.id);
    expect(found).toEqual({ ...created, pausedAt: expect.any(String) });
    const put = (id: string) => us.api.put<WebhookOut>(`/webhook/${id}`, found);
    expect(await put(created.id.toUpperCase())).toMatchObject({ status: 200, data: found });
    expect(await put(other.id)).toMatchObject(invalid('id must be that of the path', 'id'));
  });

  it('has its headers replaced by an update, which must name them and may leave out the rest', async () => {
    const { headers, ...body } = webhookBody(us, { notificationTypes: [2] });
    const more = { headers: { 'X-Secret': 's3cret' }, notificationTypes: [2] };
    const { id } = (await create(more)).data;
    const put = (fields: object) =>
      us.api.put<WebhookOut>(`/webhook/${id}`, { ...body, ...fields });
    expect(await put({})).toMatchObject(invalid('headers is required', 'headers'));
    expect(await put({ allConnections: true })).toMatchObject(
      invalid('headers is required', 'headers'),
    );
    expect(await read(id)).toMatchObject(more);
    expect((await put({ headers })).data).toMatchObject({ ...more, headers });
    expect(await put({ headers: {} })).toMatchObject({
      status: 200,
      data: { ...more, headers: {} },
    });
    expect(await read(id)).toMatchObject({ ...more, headers: {} });
  });

  it('is gone once deleted, and a second delete or an update says so', async () => {
    const { id } = (await create()).data;
    const reply = await us.api.delete(`/webhook/${id}`);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook deleted', data: true });
    const again = [us.api.delete(`/webhook/${id}`), us.api.put(`/webhook/${id}`, webhookBody(us))];
    for (const refused of again) expect(await refused).toMatchObject(invalid('Invalid webhook id'));
  });

  it('has a url of its own in its account, also of two racing creates, in another spelling', async () => {
    const urls = ['https://race.example.com/hook', 'HTTPS://RACE.example.com.:443/hook#2'];
    const replies = await Promise.all(urls.map((url) => create({ url })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(replies.find(({ status }) => status === 400)?.message).toBe(
      'Webhook with this URL already exist',
    );
    const theirs = webhookBody(them, { url: urls[0] });
    expect((await them.api.post('/webhook', theirs)).status).toBe(200);
  });

  it('names up to 1,000 connections, which fit into a request with everything else', async () => {
    const connectionIds = Array.from({ length: 1000 }, newId);
    await addConnections(us.accountId, connectionIds);
    const headers = { 'X-Long': 'x'.repeat(8000) };
    const url = `https://many.example.com/${'x'.repeat(2000)}`;
    const reply = await create({ connectionIds, headers, url });
    expect(reply.status).toBe(200);
    expect(reply.data.connectionIds).toHaveLength(1000);
    expect(await create({ connectionIds: [...connectionIds, us.connection.id] })).toMatchObject(
      invalid('connectionIds can have at most 1,000 values', 'connectionIds'),
    );
  });

  it('is one of at most 1,000 of its account', async () => {
    const us = await world();
    await addWebhooks(us.accountId, maxWebhooks - 1);
    const add = () => us.api.post('/webhook', webhookBody(us));
    expect((await add()).status).toBe(200);
    const message = `An account can have at most ${maxWebhooks} webhooks`; // as the documents have it
    expect(await add()).toMatchObject(invalid(message));
  });

  it('leaves the webhooks of its account small enough to be listed in one reply', async () => {
    const us = await world();
    const [own = '', ...others] = await addWebhooks(us.accountId, 3);
    const saves = () => [
      us.api.put(`/webhook/${own}`, webhookBody(us)),
      us.api.post('/webhook', webhookBody(us)),
    ];
    const fill = (bytes: number) =>
      rows(
        'update webhooks set headers = ?2 where id = ?1',
        others[0],
        `{"ct":"${'x'.repeat(bytes)}"}`,
      );
    await fill(maxWebhookBytes);
    for (const saved of saves())
      expect(await saved).toMatchObject(
        invalid('The webhooks of an account can be at most 2 MB in all', 'connectionIds'),
      );
    await fill(maxWebhookBytes - 20_000);
    for (const saved of saves()) expect((await saved).status).toBe(200);
    // Each connection counts as 39 bytes.
    const connectionIds = Array.from({ length: 500 }, newId);
    await addConnections(us.accountId, connectionIds);
    const many = await us.api.post('/webhook', webhookBody(us, { connectionIds }));
    expect(many.status).toBe(400);
  });
});

describe('a webhook is refused', () => {
  const https = "Invalid URL, must use 'https'";
  it.each<[field: string, message: string, value: unknown]>([
    ['url', 'url is required', undefined],
    ['url', 'url is required', null],
    ...['nonsense', '', 'http://receiver.example.com/a', 7].map(
      (url): [string, string, unknown] => ['url', https, url],
    ),
    ...[...'\n \u0085\u202e\u200b\u2028', '\u001b[2J'].map(
      (character): [string, string, unknown] => [
        'url',
        'url must not contain white space, control characters',
        `https://example.com/a${character}b`,
      ],
    ),
    ['url', 'Invalid URL, must be a public address', 'https://api.example.com/x'],
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
    ['headers', 'headers must not name a header', { 'CONTENT-X': 'gzip' }],
    ['headers', 'headers must not name a header', { 'Webhook-Signature': 'v1,forged' }],
    ['headers', 'headers must not name a header twice', { A: '1', a: '2' }],
    [
      'headers',
      'headers can have at most 50 entries',
      Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, ''])),
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
    for (const reply of [
      await create({}, {}),
      await us.api.put(`/webhook/${id}`, { notificationTypes: [1] }),
    ])
      expect(reply).toMatchObject({
        ...{ status: 400, message: 'url is required' },
        errors: expect.arrayContaining([{ field: 'url', message: 'is required' }]),
      });
  });

  it("with another account's connection, and nothing of it is kept", async () => {
    const { url } = webhookBody(us);
    const reply = await create({ url, connectionIds: [us.connection.id, them.connection.id] });
    expect(reply).toMatchObject(invalid('Invalid connection ids'));
    expect((await create({ url })).status).toBe(200);
  });
});
