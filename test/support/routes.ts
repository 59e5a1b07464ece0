import { env } from 'cloudflare:workers';
import { app } from '#src/app.ts';
import { added, type Bodies } from './added.ts';
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
export const bodies: Bodies = {
  'POST /ingest': () => ({ records: [vehicle()] }),
  'POST /webhook': (us) => webhookBody(us, { allConnections: true }),
  'PUT /webhook/:id': (us) => webhookBody(us, { allConnections: true }),
  'POST /operator/accounts': () => ({ name: 'Acme' }),
  'POST /operator/check': () => ({ schema: ['table accounts'] }),
  'PATCH /operator/accounts/:id': () => ({ status: 'active' }),
  'POST /operator/accounts/:id/connections': () => ({ provider: 'motive' }),
  'POST /operator/accounts/:id/tokens': () => ({ name: 'token' }),
  'POST /operator/accounts/:id/users': () => ({ email: 'ann@example.com' }),
  'POST /operator/accounts/:id/looks': () => ({ reason: 'ticket 12' }),
  'POST /operator/sign-in-links': () => ({ email: 'ann@example.com' }),
  'PATCH /operator/connections/:id': () => ({ healthStatus: 2 }),
  'POST /operator/accounts/:id/deletion': () => ({ name: 'Acme' }),
  'POST /operator/connections/:id/deletion': () => ({ name: 'Motive' }),
  'POST /operator/connections/:id/ingest-keys': () => ({ name: 'key' }),
  ...Object.assign({}, ...added.map((one) => one.bodies)),
};

/** What somebody sends who may call the route: its method and path, credentials and a body that it takes. */
export function requestOf(route: string, us: World) {
  const [method = '', path = ''] = route.split(' ');
  const credential = path.startsWith('/operator')
    ? { authorization: `Bearer ${env.OPERATOR_KEY}` }
    : { 'x-api-key': path.startsWith('/ingest') ? us.connection.ingestKey : us.apiToken };
  const headers: Record<string, string> = { ...credential, 'connection-id': us.connection.id };
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return { method, path, headers, body: hasBody ? (bodies[route]?.(us) ?? {}) : undefined };
}

const enough = { limit: async () => ({ success: true }) };

/** Bindings for whoever asks for far more than callers may in a minute. */
export function unlimited(): Env {
  const limits = Object.keys(env).filter((name) => name.endsWith('_LIMIT'));
  return { ...env, ...Object.fromEntries(limits.map((name) => [name, enough])) };
}
