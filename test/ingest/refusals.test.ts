import { beforeAll, describe, expect, it } from 'vitest';
import { accident, driver, safetyEvent, vehicle } from '../support/records.ts';
import { as, call, type World, world } from '../support/world.ts';

let us: World;
beforeAll(async () => {
  us = await world();
});
const connector = () => as(us.connection.ingestKey);

describe('a record is refused', () => {
  it.each<[string, unknown, string]>([
    ['no object', 5, 'record must be driver, vehicle, trip, safetyEvent'],
    ['null', null, 'record must be'],
    ['no kind', { sourceId: 'x' }, 'kind must be driver, vehicle, trip'],
    ['an unknown kind', { kind: 'boat', sourceId: 'x' }, 'kind must be'],
    ['no sourceId', vehicle({ sourceId: undefined }), 'sourceId is required'],
    ['an empty sourceId', vehicle({ sourceId: ' ' }), 'sourceId must not be empty'],
    ['a name that is a number', vehicle({ name: 5 }), 'name must be a string'],
    ['half a character', vehicle({ name: '\ud800' }), 'name must not contain control characters'],
    ['an unknown status', vehicle({ status: 'parked' }), 'status must be active or inactive'],
    ['half a year', vehicle({ year: 2020.5 }), 'year must be a whole number from 1900 to 2100'],
    ['groups that are a string', vehicle({ groups: 'North' }), 'groups must be an array'],
    [
      'a latitude of 91',
      accident({ location: { latitude: 91, longitude: 0 } }),
      'location.latitude must be from -90',
    ],
    ['no longitude', accident({ location: { latitude: 1 } }), 'location.longitude is required'],
    ['level 4', accident({ notificationLevel: 4 }), 'notificationLevel must be a whole number from 1 to 3'],
    ['a level as text', accident({ notificationLevel: '1' }), 'notificationLevel must be a number'],
    [
      'a time without offset',
      accident({ eventTime: '2026-11-20T20:00:00' }),
      'eventTime must be an RFC 3339 time',
    ],
    [
      'the 30th of February',
      safetyEvent({ startedAt: '2026-02-30T20:00:00Z' }),
      'startedAt must be a time that exists',
    ],
    [
      'a version from the far future',
      vehicle({ sourceUpdatedAt: new Date(Date.now() + 25 * 3_600_000).toISOString() }),
      'sourceUpdatedAt must not be more than a day in the future',
    ],
    ['a line break', vehicle({ sourceId: 'a\nb' }), 'sourceId must not contain control characters'],
    ['an escape', vehicle({ groups: ['\u001b[2J'] }), 'groups.0 must not contain control characters'],
    ['an override', driver({ name: 'a\u202eb' }), 'name must not contain control characters'],
    ['a name of more than 200 bytes', vehicle({ name: 'é'.repeat(101) }), 'name can be at most 200 bytes'],
    ['a long sourceId', driver({ sourceId: 'x'.repeat(201) }), 'sourceId can be at most 200 characters'],
    ['a long name of a driver', driver({ name: 'x'.repeat(201) }), 'name can be at most 200 characters'],
    [
      'a long address',
      accident({ location: { latitude: 1, longitude: 1, address: 'x'.repeat(201) } }),
      'location.address can be at most 200 characters',
    ],
    [
      'a long reportUrl',
      accident({ reportUrl: 'https://example.com/'.padEnd(2001, 'x') }),
      'reportUrl can be at most 2000 characters',
    ],
    ['a long VIN', vehicle({ vin: 'é'.repeat(21) }), 'vin can be at most 40 bytes'],
    ['21 groups', vehicle({ groups: Array(21).fill('a') }), 'groups can be at most 20'],
    ['a call full of groups', vehicle({ groups: Array(300_000).fill('') }), 'groups.0 must not be empty'],
    ['a long group', vehicle({ groups: ['x'.repeat(101)] }), 'groups.0 can be at most 100 characters'],
    [
      'groups of more than 300 bytes',
      vehicle({ groups: ['é'.repeat(100), 'é'.repeat(47)] }),
      'groups can be at most 300 bytes as JSON',
    ],
    [
      '21 incident types',
      safetyEvent({ incidentTypes: Array(21).fill('a') }),
      'incidentTypes can be at most 20',
    ],
    [
      'a long incident type',
      safetyEvent({ incidentTypes: ['x'.repeat(101)] }),
      'incidentTypes.0 can be at most 100 characters',
    ],
    [
      'incident types of more than 1,000 bytes',
      safetyEvent({ incidentTypes: Array(10).fill('é'.repeat(50)) }),
      'incidentTypes can be at most 1,000 bytes as JSON',
    ],
    [
      'a long recipient',
      safetyEvent({ recipients: ['@example.com'.padStart(321, 'a')] }),
      'recipients.0 can be at most 320 characters',
    ],
    [
      '51 recipients',
      safetyEvent({ recipients: Array(51).fill('a@example.com') }),
      'recipients can be at most 50',
    ],
    [
      'recipients of more than 4,000 bytes',
      safetyEvent({ recipients: Array(45).fill(`${'a'.repeat(80)}@example.com`) }),
      'recipients can be at most 4,000 bytes as JSON',
    ],
    ['no incident types', safetyEvent({ incidentTypes: [] }), 'incidentTypes must have at least one value'],
    ['risk 6', safetyEvent({ eventRisk: 6 }), 'eventRisk must be a whole number from 1 to 5'],
    [
      'a recipient that is no address',
      safetyEvent({ recipients: ['x'] }),
      'recipients.0 must be an email address',
    ],
  ])('with %s, saying which field and why', async (_, record, message) => {
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
