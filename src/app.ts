import { Hono } from 'hono';
import { changeRoutes } from './changes/routes.ts';
import { newId } from './db/ids.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { Refusal } from './errors.ts';
import { fleetRoutes } from './fleet/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { homesOf, mainHome } from './homes/homes.ts';
import type { App } from './http/context.ts';
import { apiVersion } from './http/envelope.ts';
import { renderFailure } from './http/failures.ts';
import { requestToFollow } from './http/home.ts';
import { allowedMethods } from './http/methods.ts';
import { logRequest } from './http/request-log.ts';
import { ingestRoutes } from './ingest/routes.ts';
import { operatorRoutes } from './operator/routes.ts';
import { portalRoutes } from './portal/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** The map of the service. */
export const app = new Hono<App>();

app.use(async (c, next) => {
  const began = Date.now();
  c.set('requestId', newId());
  c.header('X-Request-Id', c.get('requestId'));
  c.header('API-Version', apiVersion);
  c.header('Cache-Control', 'no-store');
  await next();
  logRequest(c, began);
});

app.route('/', webhookRoutes);
app.route('/', deliveryRoutes);
app.route('/', fleetRoutes);
app.route('/', changeRoutes);
app.route('/', ingestRoutes);
app.route('/', providerRoutes);
app.route('/', healthRoutes);
app.route('/operator', operatorRoutes);
app.route('/portal', portalRoutes);

app.notFound((c) => {
  const allow = allowedMethods(app, c.req.path);
  if (allow.length > 0) return renderFailure(new Refusal({ kind: 'method not allowed', allow }), c);
  return renderFailure(new Refusal({ kind: 'not found' }), c);
});

app.onError(async (error, c) => {
  const request = await requestToFollow(c, error);
  if (!request) return renderFailure(error, c);
  // What happens in the account's new home is all there is to say of this request.
  Object.assign(c.get('caller') ?? {}, { lastUsedAt: Date.now() });
  return app.fetch(request, homesOf(c.env).get(mainHome), c.executionCtx);
});
