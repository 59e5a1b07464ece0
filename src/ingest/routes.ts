import { Hono } from 'hono';
import { starter } from '../deliveries/consumer.ts';
import { Refusal } from '../errors.ts';
import { parse } from '../fields.ts';
import { readJson } from '../http/body.ts';
import type { App, Context } from '../http/context.ts';
import { ok } from '../http/envelope.ts';
import { authenticate } from '../tokens/authenticate.ts';
import { IngestBody } from './schema.ts';
import { ingest } from './service.ts';

/** Where connectors send in records (design 8). */
export const ingestRoutes = new Hono<App>().post('/ingest', authenticate('ingest'), takeIn);

const largestBody = 1024 * 1024;

async function takeIn(c: Context) {
  const token = c.get('token');
  if (token.scope !== 'ingest') throw new Refusal({ kind: 'forbidden' });
  const body = parse(IngestBody, await readJson(c, largestBody));
  const source = { ...token, now: Date.now(), requestId: c.get('requestId') };
  const start = starter(c.env, c.executionCtx);
  const outcome = await ingest(c.env, c.get('caller'), source, body, start);
  c.set('records', { ...outcome, rejected: outcome.rejected.length });
  return ok(c, 'Records taken in', outcome);
}
