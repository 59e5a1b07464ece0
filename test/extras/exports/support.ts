import { env, exports as worker } from 'cloudflare:workers';
import { parse } from 'csv-parse/sync';
import type { InferOutput } from 'valibot';
import { archive } from '#src/extras/archive/job.ts';
import { prepareExports } from '#src/extras/exports/run.ts';
import type { Export } from '#src/extras/exports/schema.ts';
import { emptyArchive } from '#test/extras/archive/support.ts';
import {
  accident,
  ago,
  as,
  dayMs,
  driver,
  rows,
  safetyEvent,
  trip,
  vehicle,
  worldBefore,
} from '#test/support.ts';

export type Shown = InferOutput<typeof Export>;

export const old = ago(300 * dayMs);
export const recent = ago(2 * dayMs);

/** An account with records of each list of two connections, the old ones of which are in the archive. */
export function exportable() {
  const us = worldBefore(beforeEach, 'motive', 'samsara');
  beforeEach(async () => {
    await emptyArchive();
    await rows('delete from exports');
    for (const { send } of us.connections)
      await send(
        vehicle(),
        driver(),
        trip({ sourceId: 'old', startedAt: old, driver: 'driver-1' }),
        trip({ startedAt: recent, startLocation: { latitude: 1.5, longitude: -2 } }),
        safetyEvent({ startedAt: old, incidentTypes: ['hard_brake', 'crash'] }),
        accident({ eventTime: recent }),
      );
    await archive(env);
  });
  return us;
}

/** No message starts the job: the tests do. */
export const quiet: Env = { ...env, DELIVERIES: { sendBatch: async () => {} } as unknown as Queue };

export const request = (token: string, body: object = {}) =>
  as(token, {}, quiet).post<Shown>('/exports', body);

/** Asks for an export, and has it prepared. Returns its id. */
export async function exported(token: string, body?: object) {
  const { status, data } = await request(token, body);
  expect(status).toBe(200);
  await prepareExports(env);
  return data.id;
}

export const fileOf = (token: string, id: string, name: string) =>
  worker.default.fetch(`https://fleet.example/exports/${id}/files/${name}`, {
    headers: { 'x-api-key': token },
  });

export const csvIn = async (file: Response): Promise<Record<string, string>[]> =>
  parse(await file.text(), { columns: true });
