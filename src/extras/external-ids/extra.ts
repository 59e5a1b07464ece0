import type { Extra } from '../extra.ts';
import { externalIdRoutes } from './routes.ts';

export const extra: Extra = { routes: externalIdRoutes };
