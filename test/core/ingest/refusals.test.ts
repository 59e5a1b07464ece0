import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { ingest } from '#src/core/ingest/service.ts';
import {
  accident,
  ago,
  driver,
  hourMs,
  invalid,
  safetyEvent,
  trip,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);

describe('a record is refused', () => {
  it.each<[message: string, record: unknown]>([
    ['record must be an object', 5],
    ['kind must be driver, vehicle, trip', { sourceId: 'x' }],
    ['sourceId must not be a placeholder or a rounded', trip({ sourceId: '2.81475E+14' })],
    ['vehicle must not be a placeholder', safetyEvent({ vehicle: 'undefined' })],
    ['location must not be 0, 0', accident({ location: { latitude: 0, longitude: 0 } })],
    ['notificationLevel must be a whole number from 1 to 3', accident({ notificationLevel: 4 })],
    ['eventTime must be an RFC 3339 time', accident({ eventTime: '2026-11-20T20:00:00' })],
    ['startedAt must not be more than a day in the future', trip({ startedAt: ago(-25 * hourMs) })],
    ['sourceId can be at most 200 characters', driver({ sourceId: 'x'.repeat(201) })],
  ])('%s', async (message, record) => {
    const reply = await us.send(record);
    const rejected = [{ index: 0, message: expect.stringContaining(message) }];
    expect(reply).toMatchObject({ status: 200, data: { accepted: 0, unchanged: 0, rejected } });
  });

  it('with its whole call, if that has no records', async () => {
    const refused = invalid('records is required', 'records');
    expect(await us.connector.post('/ingest', {})).toMatchObject(refused);
  });

  it('with its whole call, for a dry run where no extra makes it', async () => {
    const { accountId, connection } = us;
    const source = { accountId, connectionId: connection.id, provider: 'samsara', tSP: 'Samsara' };
    const told = { ...source, now: Date.now(), requestId: 'none' };
    const call = { records: [vehicle()], notify: true, dryRun: true };
    const failure = { kind: 'invalid', message: 'dryRun must be false' };
    await expect(
      ingest(env, operatorIn(accountId), told, call, { start: () => {} }),
    ).rejects.toMatchObject({ failure });
    expect((await us.lists.get('/vehicles')).data).toEqual([]);
  });

  it('with its whole call, for JSON that is invalid, naming the place and not what is there', async () => {
    const body = '{"records": [\n  {"kind": "vehicle", secret}]}';
    const reply = await us.connector.post('/ingest', body);
    expect(reply).toMatchObject({
      ...invalid('Request body is not valid JSON'),
      errors: [{ field: '', message: 'is not JSON at line 2, character 23' }],
    });
    expect(JSON.stringify(reply)).not.toContain('secret');
  });

  it('with its whole call, over 1 MiB', async () => {
    const reply = await us.connector.post('/ingest', `{"records":["${'x'.repeat(1_050_000)}"]}`);
    expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 1024 KiB' });
  });
});
