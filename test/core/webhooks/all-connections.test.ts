import { maxWebhookBytes } from '#src/core/webhooks/service.ts';
import { settled } from '#test/support/deliveries.ts';
import { accident, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import {
  addConnection,
  as,
  invalid,
  issueKey,
  operator,
  type WebhookOut,
  webhookBody,
  world,
} from '#test/support/world.ts';

const { us, heard, register } = story();
const connect = () => addConnection(us.accountId, { name: 'Vans' });
const webhooks = async () => (await us.api.get<WebhookOut[]>('/webhooks')).data;
const all = (changes: object = {}) =>
  register({ connectionIds: undefined, ...changes, allConnections: true });

describe('a webhook that covers all connections', () => {
  it('lists those of now, and is joined by a new one, whose records it is notified of', async () => {
    const hook = await all();
    expect(hook).toMatchObject({ allConnections: true, connectionIds: [us.connection.id] });
    const { id } = await connect();
    const [listed] = await webhooks();
    expect(listed).toEqual({ ...hook, connectionIds: [us.connection.id, id] });
    const connector = as(await issueKey(id));
    await connector.send(vehicle(), accident());
    await settled(hook.id);
    expect(heard.got.map(({ body }) => body.data)).toMatchObject([
      { connection: id, notificationLevel: 1 },
    ]);
  });

  it('loses a connection that is deleted, and is not joined by those of other accounts', async () => {
    const hook = await all();
    const other = await world();
    const { id } = await connect();
    await operator.post(`/operator/connections/${id}/deletion`, { name: 'Vans' });
    await addConnection(other.accountId);
    expect((await webhooks())[0]).toEqual(hook);
  });

  it('accepts what it returns, also when a connection has been added since', async () => {
    const { createdAt, id, ...read } = await all();
    const added = await connect();
    const put = await us.api.put<WebhookOut>(`/webhook/${id}`, read);
    expect(put.data).toEqual({
      ...read,
      id,
      createdAt,
      connectionIds: [us.connection.id, added.id],
    });
    const foreign = { ...read, connectionIds: [crypto.randomUUID()] };
    expect(await us.api.put(`/webhook/${id}`, foreign)).toMatchObject(
      invalid('Invalid connection ids'),
    );
  });

  it('covers only what a client names that does not say so', async () => {
    const { id, allConnections, createdAt: _, ...read } = await all();
    expect(allConnections).toBe(true);
    const put = await us.api.put<WebhookOut>(`/webhook/${id}`, read);
    expect(put.data).not.toHaveProperty('allConnections');
    await connect();
    expect((await webhooks())[0]?.connectionIds).toEqual([us.connection.id]);
    const { connectionIds: __, ...rest } = read;
    for (const body of [rest, { ...rest, allConnections: false }])
      expect(await us.api.put(`/webhook/${id}`, body)).toMatchObject(
        invalid('connectionIds is required'),
      );
  });

  it('has room for as many connections as an account can have', async () => {
    const [filler, hook] = [await register(), await all()];
    const add = () => us.api.post('/webhook', webhookBody(us, { allConnections: true }));
    const headers = JSON.stringify({ ct: 'x'.repeat(maxWebhookBytes - 41_000) });
    await rows('update webhooks set headers = ?2 where id = ?1', filler.id, headers);
    expect(await add()).toMatchObject({ status: 400, errors: [{ field: 'connectionIds' }] });
    const { id } = await connect();
    const covered = 'select connection_id from webhook_connections where webhook_id = ?1';
    expect(await rows(covered, hook.id)).toContainEqual({ connection_id: id });
  });

  it('is in the audit log when that changes', async () => {
    const { id, createdAt: _, ...read } = await all();
    for (const allConnections of [true, false])
      await us.api.put(`/webhook/${id}`, { ...read, allConnections });
    const log = await rows(
      `select action, fields from audit_log where subject_id = ?1 and fields <> '[]' order by seq`,
      id,
    );
    expect(log).toEqual([
      { action: 'created', fields: '["allConnections"]' },
      { action: 'changed', fields: '["allConnections"]' },
    ]);
  });
});
