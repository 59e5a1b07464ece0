import {
  auditOf,
  createWebhook,
  type WebhookOut,
  webhookBody,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const create = (changes?: object) => createWebhook(us, changes);
const read = async (id: string) => (await us.api.get<WebhookOut>(`/webhook/${id}`)).data;

describe('a webhook with options', () => {
  it('may be sent back as it was read', async () => {
    const { data } = await create({ signing: true, filters: { minEventRisk: 4 } });
    const { signingSecret: _, ...created } = data;
    await us.api.post(`/webhook/${created.id}/pause`, {});
    const found = await read(created.id);
    expect(found).toEqual({ ...created, pausedAt: expect.any(String) });
    const put = await us.api.put<WebhookOut>(`/webhook/${created.id}`, found);
    expect(put).toMatchObject({ status: 200, data: found });
  });

  it('keeps them in an update that leaves them out', async () => {
    const { headers, ...body } = webhookBody(us);
    const more = { headers: { 'X-Secret': 's3cret' }, filters: { minEventRisk: 4 }, signing: true };
    const { id } = (await create(more)).data;
    expect(await read(id)).toMatchObject(more);
    const put = await us.api.put<WebhookOut>(`/webhook/${id}`, { ...body, headers });
    for (const data of [put.data, await read(id)]) expect(data).toMatchObject({ ...more, headers });
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
    const fields = (await auditOf(us))
      .filter(({ action, subjectId }) => action === 'changed' && subjectId === id)
      .map((entry) => entry.fields);
    expect(fields.toReversed()).toEqual([[], [], ['filters'], ['signing', 'filters', 'oauth'], []]);
  });
});
