import { createHmac, randomBytes } from 'node:crypto';
import { dayMs } from '../../core/platform/durations.ts';
import {
  fakeSamsara,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
  uploadMs,
} from '../../dev/fakes/samsara.ts';
import type { Certificates } from '../local/certificates.ts';
import { type Listening, listen, servedBy } from '../local/receiver.ts';

export type DemoProvider = Listening & {
  credential: string;
  /** Adds an event of a vehicle, and calls its webhook. */
  happen(label: string): Promise<void>;
  /** With which it signs the calls of its webhook. */
  secret: string;
  /** Sets the URL of its webhook. */
  callAt(url: string): void;
};

const historyDays = 30;

export const incidents = [
  ['hard_brake', 'Braking'],
  ['tailgating', 'FollowingDistanceSevere'],
  ['cell_phone', 'MobileUsage'],
  ['hard_corner', 'HarshTurn'],
  ['stop_sign_violation', 'RollingStop'],
  ['drowsiness', 'Drowsy'],
] as const;

/** Starts a fake provider with five vans, and with a month of trips and events unless `quiet`. */
export async function startDemoProvider(
  certificates: Certificates,
  port: number,
  quiet: boolean,
): Promise<DemoProvider> {
  const vehicles = [1, 2, 3, 4, 5].map((n) =>
    samsaraVehicle(n, { name: `Van ${n}`, model: 'eCascadia' }),
  );
  const drivers = [1, 2, 3].map((n) => samsaraDriver(n));
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const days = Array.from({ length: quiet ? 0 : historyDays }, (_, i) => today - (i + 1) * dayMs);
  const history = days.flatMap((day) =>
    vehicles.map((vehicle) => ({ vehicle, at: Math.floor(day + Math.random() * 0.9 * dayMs) })),
  );
  const data = {
    organisation: 'Demo City Vans',
    token: 'samsara_api_demo',
    vehicles,
    drivers,
    trips: history.map(({ vehicle, at }) => samsaraTrip(vehicle, at)),
    events: history
      .filter(() => Math.random() < 0.4)
      .map(({ vehicle, at }) =>
        samsaraEvent(vehicle, pick(incidents)[1], at + 600_000, somewhere()),
      ),
  };
  const server = await listen(certificates, port, servedBy(fakeSamsara(data)));
  const secret = randomBytes(32);
  let webhook: string | undefined;
  return {
    ...server,
    credential: data.token,
    secret: secret.toString('base64'),
    callAt(url) {
      webhook = url;
    },
    async happen(label) {
      data.events.push(samsaraEvent(pick(vehicles), label, Date.now() - uploadMs, somewhere()));
      if (webhook) await callWebhook(webhook, secret);
    },
  };
}

/** Calls a webhook of ours as Samsara does, signed. */
export async function callWebhook(url: string, secret: Buffer): Promise<Response> {
  const body = JSON.stringify({ eventType: 'AlertIncident' });
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`v1:${seconds}:${body}`).digest('hex');
  const headers = { 'x-samsara-timestamp': seconds, 'x-samsara-signature': `v1=${signature}` };
  return fetch(url, { method: 'POST', headers, body });
}

/** A random place around Denver. */
export const somewhere = () => ({
  location: { latitude: 39.7 + Math.random() / 10, longitude: -105 + Math.random() / 10 },
});

/** One of `values`, which must not be empty. */
export const pick = <T>(values: readonly T[]): T =>
  values[Math.floor(Math.random() * values.length)] as T; // never empty
