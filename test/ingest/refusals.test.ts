import { beforeAll, describe, expect, it } from 'vitest';
import { accident, driver, safetyEvent, trip, vehicle } from '../support/records.ts';
import { as, call, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll);
const connector = () => as(us.connection.ingestKey);

describe('a record is refused', () => {
  it.each<[message: string, record: unknown]>([
    ['record must be driver, vehicle, trip, safetyEvent', 5],
    ['kind must be driver, vehicle, trip', { sourceId: 'x' }],
    ['sourceId is required', vehicle({ sourceId: undefined })],
    ['sourceId must not be empty', vehicle({ sourceId: ' ' })],
    ['status must be active or inactive', vehicle({ status: 'parked' })],
    ['year must be a whole number from 1900 to 2100', vehicle({ year: 2020.5 })],
    ['groups must be an array', vehicle({ groups: 'North' })],
    ['location.latitude must be from -90', accident({ location: { latitude: 91, longitude: 0 } })],
    ['notificationLevel must be a whole number from 1 to 3', accident({ notificationLevel: 4 })],
    ['eventTime must be an RFC 3339 time', accident({ eventTime: '2026-11-20T20:00:00' })],
    ['startedAt must be a time that exists', safetyEvent({ startedAt: '2026-02-30T20:00:00Z' })],
    [
      'sourceUpdatedAt must not be more than a day in the future',
      vehicle({ sourceUpdatedAt: new Date(Date.now() + 25 * 3_600_000).toISOString() }),
    ],
    [
      'endedAt must not be before startedAt',
      trip({ startedAt: '2026-11-20T20:00:00Z', endedAt: '2026-11-20T19:59:59Z' }),
    ],
    ['groups.0 must not contain control characters', vehicle({ groups: ['\u001b[2J'] })],
    ['name must not contain control characters', driver({ name: 'a\u202eb' })],
    ['name can be at most 200 bytes', vehicle({ name: 'é'.repeat(101) })],
    ['sourceId can be at most 200 characters', driver({ sourceId: 'x'.repeat(201) })],
    [
      'reportUrl can be at most 2,000 characters',
      accident({ reportUrl: 'https://example.com/'.padEnd(2001, 'x') }),
    ],
    ['groups can be at most 20', vehicle({ groups: Array(21).fill('a') })],
    ['groups.0 must not be empty', vehicle({ groups: Array(300_000).fill('') })],
    ['groups.0 can be at most 100 characters', vehicle({ groups: ['x'.repeat(101)] })],
    ['groups can be at most 300 bytes as JSON', vehicle({ groups: ['é'.repeat(100), 'é'.repeat(47)] })],
    ['incidentTypes must have at least one value', safetyEvent({ incidentTypes: [] })],
    ['eventRisk must be a whole number from 1 to 5', safetyEvent({ eventRisk: 6 })],
    ['recipients.0 must be an email address', safetyEvent({ recipients: ['x'] })],
  ])('%s', async (message, record) => {
    const reply = await connector().send(record);
    expect(reply).toMatchObject({ status: 200, data: { accepted: 0, unchanged: 0 } });
    expect(reply.data.rejected).toMatchObject([{ index: 0, message: expect.stringContaining(message) }]);
  });

  it.each<[string, unknown, string]>([
    ['no records', { records: [] }, 'records must have at least one record'],
    ['records missing', {}, 'records is required'],
    ['501 records', { records: Array(501).fill(vehicle()) }, 'records can be at most 500 records'],
    ['notify as text', { records: [vehicle()], notify: 'yes' }, 'notify must be true or false'],
  ])('with its whole call, for %s', async (_, body, message) => {
    expect(await connector().post('/ingest', body)).toMatchObject({ status: 400, message });
  });

  it('with its whole call, over 1 MiB', async () => {
    const reply = await call('POST', '/ingest', {
      headers: { 'x-api-key': us.connection.ingestKey },
      body: `{"records":["${'x'.repeat(1_050_000)}"]}`,
    });
    expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 1024 KiB' });
  });
});
