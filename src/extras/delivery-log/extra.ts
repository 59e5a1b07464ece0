// Needs: filters, search
import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages/pages.ts';
import { deliveryRoutes } from './routes.ts';

export const extra: Extra = { handlers, routes: deliveryRoutes, pages };
