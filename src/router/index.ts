import { Hono } from 'hono';
import { ingestBinding } from '../ingest/binding.ts';
import { boundCells, cellHeader } from '../platform/cells.ts';
import { invalid } from '../platform/errors.ts';
import { type App, type Context, logRequest } from '../platform/http/context.ts';
import { identify } from '../platform/http/envelope.ts';
import { renderFailure, statusOf } from '../platform/http/failures.ts';
import { askAll, askAny, health } from './all.ts';
import { cellOf } from './cell-of.ts';
import { moveAccount, movePath } from './move.ts';
import { ask, pass } from './pass.ts';

/** The map of the Worker in front of several cells. It has no database: the cells decide who may do what. */
export const router = new Hono<App>();

router.use(async (c, next) => {
  const began = Date.now();
  await next();
  // The part of a copied body that nobody reads would hold up the client, which is still sending.
  void c.req.raw.body?.cancel().catch(() => {});
  c.set('requestId', c.res.headers.get('X-Request-Id') ?? '');
  logRequest(c, began);
});

router.get('/health', (c) => {
  nameCells(c);
  return health(c);
});
router.post('/portal/sign-in', askAll);
router.all('/operator/*', (c) => {
  const cells = boundCells(c.env);
  const cell = c.req.header(cellHeader) ?? '';
  if (!cells.has(cell)) {
    nameCells(c);
    throw invalid(`${cellHeader} header is required: ${[...cells.keys()].join(' or ')}`);
  }
  if (c.req.method === 'POST' && movePath.test(c.req.path))
    return moveAccount(c.req.raw, [...cells.keys()], (to, request) => ask(c, to, request));
  return ask(c, cell, c.req.raw);
});
router.all('*', (c) => {
  const named = cellOf(c.req.raw);
  return named ? pass(c, named) : askAny(c);
});

router.onError((error, c) => {
  identify(c);
  const response = renderFailure(error, c);
  const isPage = c.req.header('accept')?.includes('text/html') && response.status === statusOf('unavailable');
  return isPage ? c.html(pageOf(c), response) : response;
});

/** What a browser is shown of a cell that is down; the pages of the service are in the cells. */
const pageOf = (c: Context): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Not available</title>
<body style="font: 1rem/1.5 system-ui; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>This page is not available</h1>
<p>The part of the service that has your data does not respond at the moment. Nothing that it has accepted is lost.
Reload this page in some seconds.</p>
<p>Request ${c.get('requestId')}</p>
</body>
</html>
`;

/** The operator's tool and a deploy know a router by this header. */
const nameCells = (c: Context) => c.header(cellHeader, [...boundCells(c.env).keys()].join(', '));

export default { fetch: router.fetch } satisfies ExportedHandler<Env>;

/** The same service binding as each cell has. */
export class Ingest extends ingestBinding(router.fetch) {}
