// Needs: archive
import type { Extra } from '../extra.ts';
import { changeRoutes } from './routes.ts';

export const extra: Extra = { routes: changeRoutes };
