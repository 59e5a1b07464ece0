import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';
import { externalIdRoutes } from './routes.ts';

export const extra: Extra = { handlers, routes: externalIdRoutes };
