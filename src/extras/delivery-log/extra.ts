// Needs: filters, search
import type { Extra } from '../extra.ts';
import { pathOfId } from './find.ts';
import { handlers } from './handlers.ts';
import { deliveryRoutes } from './routes.ts';

export const extra: Extra = { handlers, routes: deliveryRoutes, pages: { pathOfId } };
