import type { Extra } from '../extra.ts';
import { signingRoutes } from './routes.ts';

export const extra: Extra = { routes: signingRoutes };
