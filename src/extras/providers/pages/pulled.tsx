import { findConnection } from '../../../core/fleet/connections.ts';
import type { SliceQuery } from '../../../core/platform/db/cursor.ts';
import { by, type Context, orNotFound } from '../../../core/platform/http/context.ts';
import type { Pulled } from '../../../ui/added.ts';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { connectorOf } from '../registry.ts';
import { type PullSummary, pullSummaries, pullSummary } from '../status.ts';
import { credentialLabel, healthOfPull } from './health.ts';

/** The connection in the path. @throws Refusal: not found, also for another account's, or one that does not pull */
export async function requirePulled(c: Context) {
  const id = c.req.param('id') ?? '';
  const [connection, pull] = await Promise.all([
    findConnection(...by(c), id),
    pullSummary(...by(c), id),
  ]);
  const connector = orNotFound(pull && connectorOf(pull.provider));
  return { connection: orNotFound(connection), pull: orNotFound(pull), connector };
}

/** The page on which a connection's credential is replaced. */
export const replacing = (id: string, pull: PullSummary) => ({
  href: `${connectionPath({ id })}/credential`,
  name: `Replace the ${credentialLabel(pull)}`,
});

/** Those of the connections that pull, and how they do. */
export async function pulled(c: Context, which: SliceQuery | string): Promise<Map<string, Pulled>> {
  const pulls = await pullSummaries(...by(c), which);
  return new Map([...pulls].map(([id, pull]) => [id, shownOf(id, pull)]));
}

const shownOf = (id: string, pull: PullSummary): Pulled => ({
  healthOf: (connection, health) => healthOfPull(pull, connection, health),
  isStopped: pull.state === 'paused' || pull.state === 'withdrawn',
  repair: pull.state === 'refused' ? replacing(id, pull) : undefined,
});
