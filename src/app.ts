import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { fleetRoutes } from './core/fleet/routes.ts';
import { ingestRoutes } from './core/ingest/routes.ts';
import { Refusal } from './core/platform/errors.ts';
import { type App, identify, logRequest } from './core/platform/http/context.ts';
import { onlyHttps, withinTime } from './core/platform/http/every-request.ts';
import { renderFailure } from './core/platform/http/failures.ts';
import { webhookRoutes } from './core/webhooks/routes.ts';
import { findAcross, readAcross } from './extras/archive/lists.ts';
import { changeRoutes } from './extras/changes/routes.ts';
import { noteProblems } from './extras/connector-problems/problems.ts';
import { deliveryRoutes } from './extras/delivery-log/routes.ts';
import { evidenceOfRecords } from './extras/evidence/records.ts';
import { evidenceRoutes } from './extras/evidence/routes.ts';
import { exportRoutes } from './extras/exports/routes.ts';
import { externalIdRoutes } from './extras/external-ids/routes.ts';
import { providerRoutes } from './extras/providers/routes.ts';
import { replicaReader } from './extras/replicas/replica-reads.ts';
import { healthRoutes, operatorRoutes } from './operator/routes.ts';
import { pageElsewhere, portalRoutes } from './portal/routes.ts';
import { asksForPage } from './portal/ui/failures.tsx';

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

app.use((c, next) => {
  const isNewest = /\bno-cache\b/i.test(c.req.header('cache-control') ?? '');
  const behind = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  c.set('reader', replicaReader(c.env, isNewest, behind));
  return next();
});

app.route('/', webhookRoutes);
app.route('/', deliveryRoutes);
// Before the lists: an accident is shown with its evidence.
app.route('/', evidenceRoutes);
app.route('/', fleetRoutes({ readPage: readAcross, findItem: findAcross }));
app.route('/', changeRoutes);
app.route('/', exportRoutes);
app.route('/', externalIdRoutes);
app.route('/', ingestRoutes({ evidence: evidenceOfRecords, noteCall: noteProblems }));
app.route('/', providerRoutes);
app.route('/', healthRoutes);
app.route('/operator', operatorRoutes);
app.route('/portal', portalRoutes);

app.notFound((c) =>
  asksForPage(c) ? pageElsewhere(c) : renderFailure(new Refusal({ kind: 'not found' }), c),
);

app.onError(renderFailure);
