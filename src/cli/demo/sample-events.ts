import { setTimeout as wait } from 'node:timers/promises';
import { mediaLink } from '../../dev/fakes/media.ts';
import { insist, request } from '../operate/client.ts';
import type { DemoAccount } from './extras.ts';
import { type DemoProvider, incidents, pick, somewhere } from './provider.ts';

/** Enough for the minutes in which an account that moves to another cell is suspended. */
const maxTries = 30;

/** Sends a fleet, then events of both connections, and an accident in three levels. */
export async function sendSampleEvents(
  baseUrl: string,
  demo: DemoAccount,
  provider: DemoProvider,
  stopped: AbortSignal,
): Promise<void> {
  const began = new Date();
  const run = began.getTime().toString(36);
  const headers = {
    'x-api-key': demo.connections[0]?.ingestKey ?? '',
    'content-type': 'application/json',
  };
  const send = (...records: object[]) => {
    const call = { method: 'POST', headers, body: JSON.stringify({ records }) };
    return insist(maxTries, () => request(`${baseUrl}/ingest`, call));
  };
  const vehicles = [1, 2, 3, 4, 5].map((number) => ({
    kind: 'vehicle',
    sourceId: `demo-${number}`,
    name: `Truck ${number}`,
    vin: `1FUJGLDR9CLBP771${number}`,
    groups: [pick(['North', 'South'])],
  }));
  await send(...vehicles);
  for (let sent = 0; !stopped.aborted; sent++) {
    const [word, label] = pick(incidents);
    if (sent >= 1 && sent <= 3)
      await send(accident(run, began, sent, vehicles[0]?.vin ?? '', provider.url));
    else if (sent % 2 === 1) await provider.happen(label);
    else
      await send({
        kind: 'safetyEvent',
        sourceId: `demo-${run}-${sent}`,
        vehicle: pick(vehicles).sourceId,
        incidentTypes: [word],
        startedAt: new Date().toISOString(),
        ...somewhere(),
        recipients: ['safety@demo.example'],
      });
    await wait(sent < 4 ? 2000 : 8000);
  }
}

const accident = (run: string, at: Date, level: number, vin: string, media: string) => ({
  kind: 'accident',
  sourceId: `demo-${run}`,
  vin,
  eventTime: at.toISOString(),
  location: { latitude: 39.7392, longitude: -104.9903 },
  notificationLevel: level,
  ...(level === 3 && {
    reportUrl: `https://reports.demo.example/${run}`,
    evidence: [
      {
        kind: 'video',
        url: mediaLink(media, 'road.mp4'),
        camera: 'Road',
        takenAt: at.toISOString(),
      },
      { kind: 'photo', url: mediaLink(media, 'cab.jpg'), camera: 'Cab', takenAt: at.toISOString() },
    ],
  }),
});
