import { beforeEach, expect, it } from 'vitest';
import { safetyEvent, vehicle } from '../support/records.ts';
import { rows } from '../support/rows.ts';
import { as, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeEach);
const place = { latitude: 40.215, longitude: -77.189 };
const carlisle = { ...place, address: 'I-81 N, Carlisle, PA' };
const startedAt = '2026-11-20T01:00:00.000Z';
const send = (...records: object[]) => as(us.connection.ingestKey).send(...records);
it('a place without an address is stored as before, so that the same record changes nothing', async () => {
  await send(vehicle(), safetyEvent({ startedAt, location: place }));
  for (const address of [null, undefined])
    expect((await send(safetyEvent({ startedAt, location: { ...place, address } }))).data).toMatchObject({
      unchanged: 1,
    });
  const [event] = await rows('select location from safety_events where connection_id = ?', us.connection.id);
  expect(event).toEqual({ location: JSON.stringify(place) });
  expect((await send(safetyEvent({ startedAt, location: carlisle }))).data).toMatchObject({ unchanged: 0 });
});
