import { Hono } from 'hono';
import { authenticate } from '../accounts/tokens/authenticate.ts';
import { Refusal } from '../platform/errors.ts';
import { parse } from '../platform/fields.ts';
import { readJson } from '../platform/http/body.ts';
import { type App, type Context, ok } from '../platform/http/context.ts';
import { starter } from '../webhooks/deliveries/consumer.ts';
import type { BesidesCall } from './call.ts';
import { IngestBody } from './schema.ts';
import { ingest } from './service.ts';
import { warningsOf } from './warnings.ts';

export const ingestRoutes = (besides: BesidesCall = {}) =>
  new Hono<App>().post('/ingest', authenticate('ingest'), (c) => handleIngest(c, besides));

export const largestBody = 1024 * 1024;

async function handleIngest(c: Context, { noteCall, ...besides }: BesidesCall) {
  const { accountId, connection } = c.get('token');
  if (!connection) throw new Refusal({ kind: 'forbidden' });
  const body = parse(IngestBody, await readJson(c, largestBody));
  const source = { accountId, ...connection, now: Date.now(), requestId: c.get('requestId') };
  const start = starter(c.env, c.executionCtx);
  const { warnings: found, ...outcome } = await ingest(c.env, c.get('caller'), source, body, {
    start,
    ...besides,
  });
  if (!body.dryRun) c.set('records', { ...outcome, rejected: outcome.rejected.length });
  const warnings = warningsOf(connection, body.records, outcome.rejected, found);
  const message = body.dryRun ? 'Dry run: nothing was stored' : 'Records processed';
  if (!body.dryRun && noteCall) {
    const call = { records: body.records, rejected: outcome.rejected, ...warnings };
    const noted = noteCall(c.env, c.get('caller'), source, { warnings: undefined, ...call });
    c.executionCtx.waitUntil(noted.catch(() => {})); // the response has it all
  }
  return ok(c, message, { ...outcome, ...warnings });
}
