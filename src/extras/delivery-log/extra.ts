import type { Extra } from '../extra.ts';
import { deliveryRoutes } from './routes.ts';

export const extra: Extra = { routes: deliveryRoutes };
