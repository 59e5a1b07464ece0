import { app } from '../../src/app.ts';

/** Every route of the service, as `GET /webhooks`. */
export const routes = [
  ...new Set(
    app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
  ),
];
export const portalRoutes = routes.filter((route) => route.includes(' /portal'));
