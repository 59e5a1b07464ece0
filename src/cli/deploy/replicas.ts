import * as v from 'valibot';
import { type Api, granted } from './api.ts';

/**
 * Has Cloudflare keep replicas of databases, by their ids: one in each region, or in each of the jurisdiction. Those
 * that have them already stay as they are.
 *
 * @throws Stopped
 */
export async function replicate(api: Api, databases: string[]): Promise<void> {
  const body = { read_replication: { mode: 'auto' } };
  for (const database of databases)
    await granted(
      'Turning on read replication',
      v.unknown(),
      api(`/d1/database/${database}`, { method: 'PUT', body }),
    );
}
