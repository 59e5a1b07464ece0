import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages.tsx';
import { externalIdRoutes } from './routes.ts';

export const extra: Extra = { handlers, pages, routes: externalIdRoutes };
