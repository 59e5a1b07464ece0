import type * as v from 'valibot';
import type { AccidentDelivery, EventDelivery } from '../../webhooks/notifications/payloads.ts';

/** What a receiver gets of an accident, and of a safety event: for somebody who is about to choose. */
export const accidentSample: v.InferOutput<typeof AccidentDelivery> = {
  timestamp: '2026-11-20T19:32:18.204Z',
  type: 1,
  data: {
    eventId: '5b0f8d5e-1f0a-5c46-9d4b-2f9a4c6f7d31',
    eventTime: '2026-11-20T19:32:09.000Z',
    vin: '1XQTR9EX7SD004114',
    connection: '019aa0c5-520b-7a61-9f0e-5d2f3c8be901',
    tSP: 'Samsara',
    location: { latitude: 40.21502, longitude: -77.18934 },
    notificationLevel: 1,
    reportReady: false,
    isAccurate: false,
  },
};

export const eventSample: v.InferOutput<typeof EventDelivery> = {
  timestamp: '2026-11-20T20:08:44.019Z',
  type: 2,
  data: {
    eventId: '0d7a5b9c-6a5e-5f5c-8f0e-91b6f0c2a7e4',
    issuedOn: '2026-11-20T20:08:41.000Z',
    translatedIncidentTypes: ['Harsh Braking'],
    eventRisk: 4,
    vehicleId: '8a3e7c41-92bd-5d0a-b6f2-1c4d5e6f7a80',
    vehicleName: 'Truck 207',
    vehicleVin: '1XQTR9EX2SD004207',
    vehicleGroups: ['Line haul'],
    recipients: ['safety@example.com'],
  },
};
