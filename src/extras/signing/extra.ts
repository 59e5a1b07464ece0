import type { Extra } from '../extra.ts';
import { pages } from './pages.tsx';
import { signingRoutes } from './routes.ts';

export const extra: Extra = { pages, routes: signingRoutes };
