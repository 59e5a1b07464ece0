import { Hono } from 'hono';
import { ingestBinding } from '../core/ingest/binding.ts';
import { cellHeader } from '../core/platform/cells.ts';
import { invalid } from '../core/platform/errors.ts';
import { type App, identify, logRequest } from '../core/platform/http/context.ts';
import { renderFailure, statusOf } from '../core/platform/http/failures.ts';
import { cellOf } from './cell-of.ts';
import { boundCells } from './cells.ts';
import { moveAccount, movePath } from './move.ts';
import { ask, askAll, askAny, health, pass } from './pass.ts';
import { plainPage } from './plain-page.ts';

/** The Worker in front of several cells. It has no database: the cells decide. */
export const router = new Hono<App>();

router.use(async (c, next) => {
  const began = Date.now();
  await next();
  // The part of a copied body that nobody reads would hold up the client, which is still sending.
  void c.req.raw.body?.cancel().catch(() => {});
  c.set('requestId', c.res.headers.get('X-Request-Id') ?? '');
  logRequest(c, began);
});

router.get('/health', health);
router.post('/portal/sign-in', askAll);
router.all('/operator/*', (c) => {
  const cells = [...boundCells(c.env).keys()];
  const cell = c.req.header(cellHeader) ?? '';
  if (!cells.includes(cell)) {
    c.header(cellHeader, cells.join(', '));
    throw invalid(`${cellHeader} header is required: ${cells.join(' or ')}`);
  }
  return c.req.method === 'POST' && movePath.test(c.req.path)
    ? moveAccount(c.req.raw, cells, (to, request) => ask(c, to, request))
    : ask(c, cell, c.req.raw);
});
router.all('*', (c) => {
  const named = cellOf(c.req.raw);
  return named ? pass(c, named) : askAny(c);
});

const down =
  '<p>Your part of the service does not respond at the moment. Nothing is lost. Reload in some seconds.</p>';

router.onError((error, c) => {
  identify(c);
  const response = renderFailure(error, c);
  if (response.status !== statusOf('unavailable') || !c.req.header('accept')?.includes('text/html'))
    return response;
  return c.html(
    plainPage('Not available', `${down}<p>Request ${c.get('requestId')}</p>`),
    response,
  );
});

export default { fetch: router.fetch } satisfies ExportedHandler<Env>;

/** The service binding for connectors, as each cell has it. */
export class Ingest extends ingestBinding(router.fetch) {}
