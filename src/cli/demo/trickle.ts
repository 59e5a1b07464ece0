import { setTimeout as wait } from 'node:timers/promises';
import { request } from '../operate/client.ts';
import type { DemoAccount } from './account.ts';

/** Sends in a made-up fleet, then an event every few seconds and, early on, an accident with its three levels. */
export async function trickle(baseUrl: string, demo: DemoAccount, stopped: AbortSignal): Promise<void> {
  const began = new Date();
  const run = began.getTime().toString(36);
  const send = (connection: number, ...records: object[]) =>
    request(`${baseUrl}/ingest`, {
      method: 'POST',
      headers: {
        'x-api-key': demo.connections[connection]?.ingestKey ?? '',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ records }),
    });
  const vehicles = [1, 2, 3, 4, 5].map((number) => ({
    kind: 'vehicle',
    sourceId: `demo-${number}`,
    name: `Truck ${number}`,
    vin: `1FUJGLDR5CLBP883${number}`,
    groups: [pick(['North', 'South'])],
  }));
  await Promise.all([send(0, ...vehicles), send(1, ...vehicles)]);
  for (let turn = 0; !stopped.aborted; turn++) {
    const connection = turn % 2;
    if (turn >= 1 && turn <= 3) await send(0, accident(run, began, turn, vehicles[0]?.vin ?? ''));
    else
      await send(connection, {
        kind: 'safetyEvent',
        sourceId: `demo-${run}-${turn}`,
        vehicle: pick(vehicles).sourceId,
        incidentTypes: [pick(incidents)[connection]],
        startedAt: new Date().toISOString(),
        location: { latitude: 39.7 + Math.random() / 10, longitude: -105 + Math.random() / 10 },
        recipients: ['safety@demo.example'],
      });
    await wait(turn < 4 ? 2000 : 8000);
  }
}

const accident = (run: string, at: Date, level: number, vin: string) => ({
  kind: 'accident',
  sourceId: `demo-${run}`,
  vin,
  eventTime: at.toISOString(),
  location: { latitude: 39.7392, longitude: -104.9903 },
  notificationLevel: level,
  ...(level === 3 && { reportUrl: `https://reports.demo.example/${run}` }),
});

/** What each connection's provider calls an incident. */
const incidents = [
  ['hard_brake', 'Braking'],
  ['tailgating', 'FollowingDistanceSevere'],
  ['cell_phone', 'MobileUsage'],
  ['hard_corner', 'HarshTurn'],
  ['stop_sign_violation', 'RollingStop'],
  ['drowsiness', 'Drowsy'],
] as const;

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T; // never empty
