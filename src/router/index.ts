import { WorkerEntrypoint } from 'cloudflare:workers';
import { Hono } from 'hono';
import { type IngestBatch, type IngestReply, ingestBy } from '../ingest/binding.ts';
import { cellHeader } from '../platform/cells.ts';
import { invalid } from '../platform/errors.ts';
import { type App, type Context, logRequest } from '../platform/http/context.ts';
import { identify } from '../platform/http/envelope.ts';
import { renderFailure } from '../platform/http/failures.ts';
import { askAll, askAny, health } from './all.ts';
import { ask, cellsOf } from './ask.ts';
import { cellOf } from './cell-of.ts';
import { follow } from './follow.ts';

/** The map of the Worker in front of several cells. It has no database: the cells decide who may do what. */
export const router = new Hono<App>();

router.use(async (c, next) => {
  const began = Date.now();
  await next();
  c.set('requestId', c.res.headers.get('X-Request-Id') ?? '');
  logRequest(c, began);
});

router.get('/health', (c) => {
  c.header(cellHeader, namesIn(c));
  return health(c);
});
router.post('/portal/sign-in', askAll);
router.all('/operator/*', (c) => {
  const cells = cellsOf(c.env);
  const cell = c.req.header(cellHeader) ?? '';
  if (!cells.has(cell)) {
    c.header(cellHeader, namesIn(c));
    throw invalid(`${cellHeader} header is required: ${[...cells.keys()].join(' or ')}`, [
      { field: cellHeader, message: 'must be the name of a cell' },
    ]);
  }
  return ask(c, cell, c.req.raw);
});
router.all('*', (c) => {
  const named = cellOf(c.req.raw);
  return named ? follow(c, named) : askAny(c);
});

router.onError((error, c) => {
  identify(c);
  return renderFailure(error, c);
});

/** The names of the cells, by which the operator's tool and a deploy know a router. */
const namesIn = (c: Context): string => [...cellsOf(c.env).keys()].join(', ');

export default { fetch: router.fetch } satisfies ExportedHandler<Env>;

/** The service binding for connectors that are Workers of the same Cloudflare account, as each cell has it. */
export class Ingest extends WorkerEntrypoint<Env> {
  records(ingestKey: string, batch: IngestBatch): Promise<IngestReply> {
    return ingestBy((request) => router.fetch(request, this.env, this.ctx), ingestKey, batch);
  }
}
