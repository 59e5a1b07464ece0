import { app } from '#src/app.ts';
import { vehicle } from './records.ts';
import { type World, webhookBody } from './world.ts';

/** Every route of the service, as `GET /webhooks`. */
export const routes = [
  ...new Set(
    app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`),
  ),
];
export const portalRoutes = routes.filter((route) => route.includes(' /portal'));

/** A body that each route takes, where `{}` is none. */
export const bodies: { [route: string]: (us: World) => object } = {
  'POST /ingest': () => ({ records: [vehicle()] }),
  'POST /exports': () => ({ lists: ['trips'] }),
  'POST /webhook': (us) => webhookBody(us, { allConnections: true }),
  'PUT /webhook/:id': (us) => webhookBody(us, { allConnections: true }),
  'POST /webhook/:id/replay': () => ({ dryRun: true }),
  'POST /webhook/:id/test': () => ({ type: 2 }),
  'PUT /connections/:id': () => ({ externalId: 'A' }),
  'PUT /vehicles/:id': () => ({ externalId: 'A' }),
  'POST /operator/accounts': () => ({ name: 'Acme' }),
  'POST /operator/check': () => ({ schema: ['table accounts'] }),
  'PATCH /operator/accounts/:id': () => ({ status: 'active' }),
  'POST /operator/accounts/:id/connections': () => ({ provider: 'motive' }),
  'POST /operator/accounts/:id/tokens': () => ({ name: 'token' }),
  'POST /operator/accounts/:id/users': () => ({ email: 'ann@example.com' }),
  'POST /operator/accounts/:id/connect-links': () => ({ name: 'Fleet' }),
  'POST /operator/accounts/:id/channels': () => ({
    name: 'x',
    kind: 'slack',
    url: 'https://x.example.com',
  }),
  'POST /operator/accounts/:id/looks': () => ({ reason: 'ticket 12' }),
  'POST /operator/sign-in-links': () => ({ email: 'ann@example.com' }),
  'PATCH /operator/connections/:id': () => ({ healthStatus: 2 }),
  'PATCH /operator/vehicles/:id': () => ({ externalId: 'A' }),
  'POST /operator/accounts/:id/deletion': () => ({ name: 'Acme' }),
  'POST /operator/accounts/:id/move': () => ({ to: 'eu' }),
  'POST /operator/connections/:id/archive/repair': () => ({ kind: 'trips', date: '2026-05-31' }),
  'POST /operator/connections/:id/deletion': () => ({ name: 'Motive' }),
  'POST /operator/connections/:id/ingest-keys': () => ({ name: 'key' }),
  'PUT /operator/connections/:id/credential': () => ({ credential: 'samsara_api_1' }),
  'PUT /operator/connections/:id/webhook-secret': () => ({ secret: 'long-enough' }),
};
