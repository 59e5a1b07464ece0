import { beforeAll, describe, expect, it } from 'vitest';
import { as, type WebhookOut, type World, webhookBody, world } from '../support/world.ts';

let us: World;
let them: World;
beforeAll(async () => {
  us = await world({ providers: ['motive', 'samsara'] });
  them = await world();
});
const create = (changes: object = {}, body: object = webhookBody(us, changes)) =>
  as(us.apiToken).post<WebhookOut>('/webhook', body);

describe('a webhook', () => {
  it('is created with 200 and answered with every field of the spec', async () => {
    const body = webhookBody(us, { httpVerb: 'PUT', headers: { 'X-Secret': 'quiet', 'X-B': '2' } });
    const reply = await create({}, body);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook created', data: body });
    expect(Object.keys(reply.data).sort()).toEqual(
      ['connectionIds', 'createdAt', 'headers', 'httpVerb', 'id', 'notificationTypes', 'url'].sort(),
    );
    expect(reply.data.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('is listed with all others of its account, in one unpaginated reply', async () => {
    const created = await create();
    const list = await as(us.apiToken).get<WebhookOut[]>('/webhooks');
    expect(list.data.find(({ id }) => id === created.data.id)).toEqual({
      ...created.data,
      connectionIds: expect.arrayContaining(created.data.connectionIds),
    });
    expect(list).not.toHaveProperty('next');
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
    const reply = await as(us.apiToken).put<WebhookOut>(`/webhook/${before.id}`, body);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook updated' });
    expect(reply.data).toEqual({ ...body, id: before.id, createdAt: before.createdAt });
    const list = await as(us.apiToken).get<WebhookOut[]>('/webhooks');
    expect(list.data.find(({ id }) => id === before.id)).toEqual(reply.data);
  });

  it('can keep its url in an update', async () => {
    const before = (await create()).data;
    const reply = await as(us.apiToken).put(`/webhook/${before.id}`, webhookBody(us, { url: before.url }));
    expect(reply.status).toBe(200);
  });

  it('is gone once deleted, and a second delete says so', async () => {
    const { id } = (await create()).data;
    const reply = await as(us.apiToken).delete(`/webhook/${id}`);
    expect(reply).toMatchObject({ status: 200, message: 'Webhook deleted', data: true });
    const again = await as(us.apiToken).delete(`/webhook/${id}`);
    expect(again).toMatchObject({ status: 400, message: 'Invalid webhook id' });
  });

  it('has a url of its own: of two racing creates one wins', async () => {
    const url = 'https://race.example.com/hook';
    const replies = await Promise.all([
      create({ url }),
      create({ url: 'HTTPS://RACE.example.com:443/hook' }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(replies.find(({ status }) => status === 400)?.message).toBe('Webhook with this URL already exist');
  });

  it('cannot take the url of another in an update', async () => {
    const [a, b] = [(await create()).data, (await create()).data];
    const reply = await as(us.apiToken).put(`/webhook/${a.id}`, webhookBody(us, { url: b.url }));
    expect(reply).toMatchObject({ status: 400, message: 'Webhook with this URL already exist' });
  });

  it('may share its url with a webhook of another account', async () => {
    const { url } = (await create()).data;
    expect((await as(them.apiToken).post('/webhook', webhookBody(them, { url }))).status).toBe(200);
  });
});

describe('a webhook is refused', () => {
  const https = "Invalid URL, must use 'https'";
  it.each<[string, object, string, string]>([
    ['http url', { url: 'http://example.com/' }, https, 'url'],
    ['relative url', { url: '/hook' }, https, 'url'],
    ['url that is a number', { url: 5 }, https, 'url'],
    ['missing url', { url: undefined }, https, 'url'],
    ['private address', { url: 'https://10.0.0.1/' }, 'Invalid URL, must be a public address', 'url'],
    ['own host', { url: 'https://api.example.com/x' }, 'Invalid URL, must be a public address', 'url'],
    ['credentials', { url: 'https://a:b@example.com/' }, 'Invalid URL, must not contain credentials', 'url'],
    [
      'long url',
      { url: `https://example.com/${'x'.repeat(10_000)}` },
      'url can be at most 2,048 characters',
      'url',
    ],
    ['unknown verb', { httpVerb: 'PATCH' }, 'httpVerb must be POST or PUT', 'httpVerb'],
    ['missing verb', { httpVerb: undefined }, 'httpVerb is required', 'httpVerb'],
    [
      'no types',
      { notificationTypes: [] },
      'notificationTypes must have at least one value',
      'notificationTypes',
    ],
    [
      'unknown type',
      { notificationTypes: [3] },
      'notificationTypes.0 must be 1 (accident) or 2 (event)',
      'notificationTypes.0',
    ],
    [
      'types as a string',
      { notificationTypes: '2' },
      'notificationTypes must be an array',
      'notificationTypes',
    ],
    ['connection id that is no UUID', { connectionIds: ['x'] }, 'Invalid connection ids', 'connectionIds.0'],
    ['connections missing', { connectionIds: undefined }, 'connectionIds is required', 'connectionIds'],
    [
      'header with a line break',
      { headers: { 'X-A\r\nB': 'x' } },
      'headers names must be RFC 9110',
      'headers',
    ],
    [
      'header value with a line break',
      { headers: { A: 'x\nB: y' } },
      'headers values must be visible',
      'headers',
    ],
    [
      'header value that is a number',
      { headers: { A: 1 } },
      'headers must be an object of strings',
      'headers',
    ],
    ['headers as a list', { headers: ['a'] }, 'headers must be an object of strings', 'headers'],
    ['header of ours', { headers: { 'delivery-id': 'x' } }, 'headers must not name a header', 'headers'],
    ['header twice', { headers: { A: '1', a: '2' } }, 'headers must not name a header twice', 'headers'],
    [
      '51 headers',
      { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, ''])) },
      'headers can be at most 50',
      'headers',
    ],
    ['8 KiB of headers', { headers: { A: 'x'.repeat(8192) } }, 'headers can be at most 8 KiB', 'headers'],
  ])('with a %s, naming the field', async (_, changes, message, field) => {
    const reply = await create(changes);
    expect(reply).toMatchObject({ status: 400, requestId: expect.any(String) });
    expect(reply.message).toContain(message);
    expect(reply.errors?.map((error) => error.field)).toContain(field);
  });

  it("with another account's connection", async () => {
    const reply = await create({ connectionIds: [us.connection.id, them.connection.id] });
    expect(reply).toMatchObject({ status: 400, message: 'Invalid connection ids' });
  });

  it('and nothing of it is kept', async () => {
    const url = 'https://half.example.com/';
    await create({ url, connectionIds: [them.connection.id] });
    expect((await create({ url })).status).toBe(200);
  });

  it.each(['x', '00000000-0000-7000-8000-000000000000', 'ABC%20'])('by id %s', async (id) => {
    for (const reply of [
      await as(us.apiToken).delete(`/webhook/${id}`),
      await as(us.apiToken).put(`/webhook/${id}`, webhookBody(us)),
    ])
      expect(reply).toMatchObject({ status: 400, message: 'Invalid webhook id' });
  });
});
