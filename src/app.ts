import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { fleetRoutes } from './core/fleet/routes.ts';
import { ingestRoutes } from './core/ingest/routes.ts';
import { Refusal } from './core/platform/errors.ts';
import { type App, identify, logRequest } from './core/platform/http/context.ts';
import { onlyHttps, withinTime } from './core/platform/http/every-request.ts';
import { renderFailure } from './core/platform/http/failures.ts';
import { webhookRoutes } from './core/webhooks/routes.ts';
import { declared } from './extras.ts';
import { healthRoutes, operatorRoutes } from './operator/routes.ts';
import { pageElsewhere, portalRoutes } from './portal/routes.ts';
import { asksForPage } from './ui/failures.tsx';

/** The map of the service. */
export const app = new Hono<App>();

app.use(async (c, next) => {
  const began = Date.now();
  identify(c);
  await next();
  logRequest(c, began);
});

app.use(onlyHttps);

app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, allow) =>
      renderFailure(new Refusal({ kind: 'method not allowed', allow }), c),
  }),
);

// Pages and operators' calls may wait for receivers, providers and what they delete; `/health` has a limit of its own.
app.use(async (c, next) =>
  /^\/(?:operator|portal|health)\b/.test(c.req.path) ? next() : withinTime(c, next),
);

for (const reader of declared('reader'))
  app.use((c, next) => {
    const isNewest = /\bno-cache\b/i.test(c.req.header('cache-control') ?? '');
    const behind = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    c.set('reader', () => reader(c.env, isNewest, behind));
    return next();
  });

// Extras come first: one can show more of an item than its list.
for (const routes of declared('routes')) app.route('/', routes);
app.route('/', webhookRoutes);
app.route('/', fleetRoutes(...declared('reads')));
app.route('/', ingestRoutes(Object.assign({}, ...declared('ingest'))));
app.route('/', healthRoutes);
app.route('/operator', operatorRoutes);
app.route('/portal', portalRoutes);

app.notFound((c) =>
  asksForPage(c) ? pageElsewhere(c) : renderFailure(new Refusal({ kind: 'not found' }), c),
);

app.onError(renderFailure);
