import { describe, expect, it } from 'vitest';
import { motiveRecords } from '../../../../src/dev/examples/connector/motive.ts';
import { samsaraRecords } from '../../../../src/dev/examples/connector/samsara.ts';
import { motiveSigned, samsaraSigned } from '../../../../src/dev/examples/connector/signatures.ts';
// As Motive published it: developer.gomotive.com/changelog/aggregated-driver-performance-v2-webhook, without its series.
import laneSwerving from './motive-lane-swerving.json';
// As Samsara published it: the AlertIncident example of its event schemas.
import severeSpeeding from './samsara-severe-speeding.json';

const bytes = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer; // of its own, never shared

describe("Samsara's signature", () => {
  const secret = btoa('a secret of thirty-two bytes, or so');
  const now = Date.parse('2026-11-21T08:00:00Z');
  const body = bytes('{"eventType":"Ping"}');
  const signed = async (timestamp: string, key = secret) => {
    const raw = Uint8Array.fromBase64(key);
    const hmac = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ]);
    const message = `v1:${timestamp}:${new TextDecoder().decode(body)}`;
    const signature = await crypto.subtle.sign('HMAC', hmac, new TextEncoder().encode(message));
    return new Headers({
      'X-Samsara-Timestamp': timestamp,
      'X-Samsara-Signature': `v1=${new Uint8Array(signature).toHex()}`,
    });
  };
  const seconds = (ms: number) => String(ms / 1000);

  it('is known', async () => {
    expect(await samsaraSigned(await signed(seconds(now)), body, secret, now)).toBe(true);
  });

  it('is not taken with another secret, body or time, nor when it is old or none', async () => {
    const good = await signed(seconds(now));
    expect(await samsaraSigned(await signed(seconds(now), btoa('another')), body, secret, now)).toBe(false);
    expect(await samsaraSigned(good, bytes('{}'), secret, now)).toBe(false);
    const moved = new Headers(good);
    moved.set('X-Samsara-Timestamp', seconds(now + 1000));
    expect(await samsaraSigned(moved, body, secret, now)).toBe(false);
    expect(await samsaraSigned(good, body, secret, now + 6 * 60_000)).toBe(false);
    expect(await samsaraSigned(new Headers(), body, secret, now)).toBe(false);
    const noTime = new Headers({ 'X-Samsara-Signature': good.get('X-Samsara-Signature') ?? '' });
    expect(await samsaraSigned(noTime, body, secret, now)).toBe(false);
  });
});

describe("Motive's signature", () => {
  // Motive's own example of body, secret and signature.
  const body = bytes('["fault_code_closed"]');
  const secret = 'd9d36bea41c44ae49d1bfc4a48ba2abe';
  const signature = 'f04a8386a21a6cba0447024e83b3f0983352bb72';

  it('is known, by the example that Motive publishes', async () => {
    expect(await motiveSigned(new Headers({ 'X-KT-Webhook-Signature': signature }), body, secret)).toBe(true);
  });

  it('is not taken with another secret or body, or when there is none', async () => {
    const headers = new Headers({ 'X-KT-Webhook-Signature': signature });
    expect(await motiveSigned(headers, body, 'another')).toBe(false);
    expect(await motiveSigned(headers, bytes('[]'), secret)).toBe(false);
    expect(await motiveSigned(new Headers(), body, secret)).toBe(false);
    expect(await motiveSigned(new Headers({ 'X-KT-Webhook-Signature': 'zz' }), body, secret)).toBe(false);
  });
});

describe("Samsara's webhooks", () => {
  it('tell of severe speeding, in kilometres an hour', () => {
    expect(samsaraRecords(severeSpeeding)).toEqual({
      records: [
        { kind: 'driver', sourceId: '45646', name: 'Driver Bob' },
        {
          kind: 'safetyEvent',
          sourceId: '017db07f-6e95-470e-8cc0-a371f9deed2b',
          sourceUpdatedAt: '2019-06-13T19:08:25Z',
          vehicle: '494123',
          driver: '45646',
          incidentTypes: ['SevereSpeeding'],
          startedAt: '2019-06-13T19:08:25Z',
          maxSpeedKph: expect.closeTo(120.7, 1),
          speedLimitKph: expect.closeTo(88.5, 1),
        },
      ],
      vehicle: { kind: 'vehicle', sourceId: '494123', name: 'Fleet Truck #1', vin: null },
    });
  });

  it('tell of a harsh event by the name of its alert, and the VIN', () => {
    const vehicle = { id: '9', name: 'Van', externalIds: { 'samsara.vin': 'WDB9066331S000001' } };
    const conditions = [{ description: 'Braking', details: { harshEvent: { vehicle } }, triggerId: 1 }];
    const report = samsaraRecords({ ...severeSpeeding, data: { ...severeSpeeding.data, conditions } });
    expect(report?.records).toMatchObject([
      { kind: 'safetyEvent', vehicle: '9', incidentTypes: ['Braking'] },
    ]);
    expect(report?.vehicle?.vin).toBe('WDB9066331S000001');
  });

  it('of no interest tell nothing', () => {
    const other = [{ description: 'In', details: { geofenceEntry: {} }, triggerId: 1 }];
    for (const body of [
      { ...severeSpeeding, data: { ...severeSpeeding.data, isResolved: true } },
      { ...severeSpeeding, data: { ...severeSpeeding.data, conditions: other } },
      { eventId: 'x', eventType: 'Ping' },
      [],
      null,
    ])
      expect(samsaraRecords(body)).toBeUndefined();
  });
});

describe("Motive's webhooks", () => {
  it('tell of a driver performance event', () => {
    expect(motiveRecords(laneSwerving)).toEqual({
      records: [
        {
          kind: 'safetyEvent',
          sourceId: '1359698678',
          vehicle: '1300181',
          driver: '4033173',
          incidentTypes: ['lane_swerving'],
          startedAt: '2025-09-25T08:52:52Z',
          endedAt: '2025-09-25T08:52:58Z',
          location: { latitude: 37.764701, longitude: -122.477367 },
          maxSpeedKph: 101.407005,
        },
      ],
      vehicle: { kind: 'vehicle', sourceId: '1300181', name: 'Vehicle 1300181' },
    });
  });

  it('tell of a vehicle', () => {
    const body = {
      action: 'vehicle_upserted',
      id: 7,
      number: 'T7',
      vin: '',
      year: '2024',
      status: 'deactivated',
    };
    expect(motiveRecords(body)?.records).toMatchObject([
      { kind: 'vehicle', sourceId: '7', name: 'T7', vin: null, year: 2024, status: 'inactive' },
    ]);
  });

  it('of no interest tell nothing', () => {
    for (const body of [['fault_code_closed'], { action: 'fault_code_opened', id: 1 }, null, 'x'])
      expect(motiveRecords(body)).toBeUndefined();
  });
});
