import {
  invalid,
  operator,
  type WebhookOut,
  webhookBody,
  worldBefore,
} from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const create = (changes: object = {}) =>
  us.api.post<WebhookOut>('/webhook', webhookBody(us, changes));
const read = async (id: string) => (await us.api.get<WebhookOut>(`/webhook/${id}`)).data;

describe('a webhook with options', () => {
  it('may be sent back as it was read, but not to another', async () => {
    const { data } = await create({ signing: true, filters: { minEventRisk: 4 } });
    const { signingSecret: _, ...created } = data;
    const other = (await create()).data;
    await us.api.post(`/webhook/${created.id}/pause`, {});
    const found = await read(created.id);
    expect(found).toEqual({ ...created, pausedAt: expect.any(String) });
    const put = (id: string) => us.api.put<WebhookOut>(`/webhook/${id}`, found);
    expect(await put(created.id.toUpperCase())).toMatchObject({ status: 200, data: found });
    expect(await put(other.id)).toMatchObject(invalid('id must be that of the path', 'id'));
  });

  it('keeps them in an update that leaves them out', async () => {
    const { headers, ...body } = webhookBody(us);
    const more = { headers: { 'X-Secret': 's3cret' }, filters: { minEventRisk: 4 }, signing: true };
    const { id } = (await create(more)).data;
    const put = (fields: object) =>
      us.api.put<WebhookOut>(`/webhook/${id}`, { ...body, ...fields });
    expect(await read(id)).toMatchObject(more);
    expect((await put({ headers })).data).toMatchObject({ ...more, headers });
    expect(await put({ headers: {} })).toMatchObject({
      status: 200,
      data: { ...more, headers: {} },
    });
    expect(await read(id)).toMatchObject({ ...more, headers: {} });
  });

  it('is in the audit log with those that a change was about', async () => {
    const filters = { minEventRisk: 4 };
    const body = webhookBody(us, { url: 'https://hooks.example.com/', filters });
    const { id } = (await us.api.post<WebhookOut>('/webhook', body)).data;
    const put = (changes: object) => us.api.put(`/webhook/${id}`, { ...body, ...changes });
    await put({});
    await put({ filters: undefined });
    await put({ filters: null });
    const tokenUrl = 'https://sso.example.com/token';
    const oauth = { tokenUrl, clientId: 'us', clientSecret: 'four' };
    await put({ signing: true, oauth });
    await put({ filters: undefined, oauth: { tokenUrl, clientId: 'us' } });
    type Entry = { action: string; subjectId: string; fields: string[] };
    const path = `/operator/accounts/${us.accountId}/audit`;
    const fields = (await operator.get<Entry[]>(path)).data
      .filter(({ action, subjectId }) => action === 'changed' && subjectId === id)
      .map((entry) => entry.fields);
    expect(fields.toReversed()).toEqual([[], [], ['filters'], ['signing', 'filters', 'oauth'], []]);
  });
});
