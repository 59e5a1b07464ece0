import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { ingest } from '#src/core/ingest/service.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { call, invalid, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);

describe('a record is refused', () => {
  it.each<[message: string, record: unknown]>([
    ['record must be driver, vehicle, trip, safetyEvent', 5],
    ['kind must be driver, vehicle, trip', { sourceId: 'x' }],
    ['sourceId is required', vehicle({ sourceId: undefined })],
    ['sourceId must not be empty', vehicle({ sourceId: ' ' })],
    ['sourceId must not be empty', vehicle({ sourceId: '\u200b' })],
    ['sourceId must not be a placeholder', vehicle({ sourceId: '#REF!' })],
    ['sourceId must not be a placeholder or a rounded', trip({ sourceId: '2.81475E+14' })],
    ['vehicle must not be a placeholder', safetyEvent({ vehicle: 'undefined' })],
    ['location.latitude must be from -90', accident({ location: { latitude: 91, longitude: 0 } })],
    ['location must not be 0, 0', accident({ location: { latitude: 0, longitude: 0 } })],
    ['notificationLevel must be a whole number from 1 to 3', accident({ notificationLevel: 4 })],
    ['eventTime must be an RFC 3339 time', accident({ eventTime: '2026-11-20T20:00:00' })],
    ['startedAt must be a time that exists', safetyEvent({ startedAt: '2026-02-30T20:00:00Z' })],
    [
      'startedAt must not be more than a day in the future',
      trip({ startedAt: new Date(Date.now() + 25 * 3_600_000).toISOString() }),
    ],
    ['sourceId can be at most 200 characters', driver({ sourceId: 'x'.repeat(201) })],
  ])('%s', async (message, record) => {
    const reply = await us.send(record);
    expect(reply).toMatchObject({ status: 200, data: { accepted: 0, unchanged: 0 } });
    expect(reply.data.rejected).toMatchObject([
      { index: 0, message: expect.stringContaining(message) },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no records', { records: [] }, 'records must have at least one item'],
    ['records missing', {}, 'records is required'],
    ['501 records', { records: Array(501).fill(vehicle()) }, 'records can have at most 500 items'],
    ['notify as text', { records: [vehicle()], notify: 'yes' }, 'notify must be true or false'],
  ])('with its whole call, for %s', async (_, body, message) => {
    expect(await us.connector.post('/ingest', body)).toMatchObject(invalid(message));
  });

  it('with its whole call, for a dry run where no extra makes it', async () => {
    const source = { accountId: us.accountId, connectionId: us.connection.id, provider: 'samsara' };
    const call = { records: [vehicle()], notify: true, dryRun: true };
    const told = { tSP: 'Samsara', now: Date.now(), requestId: 'none' };
    const start = () => {};
    await expect(
      ingest(env, operatorIn(us.accountId), { ...source, ...told }, call, { start }),
    ).rejects.toMatchObject({ failure: { kind: 'invalid', message: 'dryRun must be false' } });
    expect((await us.lists.get('/vehicles')).data).toEqual([]);
  });

  it('with its whole call, for JSON that is invalid, naming the place and not what is there', async () => {
    const reply = await call('POST', '/ingest', {
      headers: { 'x-api-key': us.connection.ingestKey },
      body: '{"records": [\n  {"kind": "vehicle", secret}]}',
    });
    expect(reply).toMatchObject({
      status: 400,
      message: 'Request body is not valid JSON',
      errors: [{ field: '', message: 'is not JSON at line 2, character 23' }],
    });
    expect(JSON.stringify(reply)).not.toContain('secret');
  });

  it('with its whole call, over 1 MiB', async () => {
    const reply = await call('POST', '/ingest', {
      headers: { 'x-api-key': us.connection.ingestKey },
      body: `{"records":["${'x'.repeat(1_050_000)}"]}`,
    });
    expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 1024 KiB' });
  });
});
