import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { archive } from '../../../src/fleet/archive/job.ts';
import { archiveKinds } from '../../../src/fleet/lists/registry.ts';
import { dayMs } from '../../support/archive.ts';
import { safetyEvent, trip, vehicle } from '../../support/records.ts';
import { as, world } from '../../support/world.ts';

type Change = { kind: string; action: string; data: { sourceId: string } | null };

it('the change feed shows what has moved to the archive since it changed', async () => {
  const us = await world();
  const old = new Date(Date.now() - 250 * dayMs).toISOString();
  await as(us.connection.ingestKey).send(
    vehicle(),
    trip({ startedAt: old }),
    safetyEvent({ startedAt: old }),
    safetyEvent({ sourceId: 'recent', startedAt: new Date().toISOString() }),
  );
  const changes = async () => (await as(us.apiToken).get<Change[]>('/changes')).data;
  const before = await changes();
  expect(before.length).toBeGreaterThanOrEqual(4);
  await archive(env, archiveKinds);
  expect(await changes()).toEqual(before);
});
