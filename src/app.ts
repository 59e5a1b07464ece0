import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { findAcross, readAcross } from './fleet/archive/lists.ts';
import { changeRoutes } from './fleet/changes/routes.ts';
import { evidenceOfRecords } from './fleet/evidence/records.ts';
import { evidenceRoutes } from './fleet/evidence/routes.ts';
import { externalIdRoutes } from './fleet/external-ids/routes.ts';
import { fleetRoutes } from './fleet/routes.ts';
import { ingestRoutes } from './ingest/routes.ts';
import { healthRoutes, operatorRoutes } from './operator/routes.ts';
import { Refusal } from './platform/errors.ts';
import { type App, identify, logRequest } from './platform/http/context.ts';
import { onlyHttps, withinTime } from './platform/http/every-request.ts';
import { renderFailure } from './platform/http/failures.ts';
import { pageElsewhere, portalRoutes } from './portal/routes.ts';
import { asksForPage } from './portal/ui/failures.tsx';
import { providerRoutes } from './providers/routes.ts';
import { deliveryRoutes } from './webhooks/deliveries/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

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

app.route('/', webhookRoutes);
app.route('/', deliveryRoutes);
// Before the lists: an accident is shown with its evidence.
app.route('/', evidenceRoutes);
app.route('/', fleetRoutes({ readPage: readAcross, findItem: findAcross }));
app.route('/', changeRoutes);
app.route('/', externalIdRoutes);
app.route('/', ingestRoutes(evidenceOfRecords));
app.route('/', providerRoutes);
app.route('/', healthRoutes);
app.route('/operator', operatorRoutes);
app.route('/portal', portalRoutes);

app.notFound((c) =>
  asksForPage(c) ? pageElsewhere(c) : renderFailure(new Refusal({ kind: 'not found' }), c),
);

app.onError(renderFailure);
