// Needs: archive
import type { Extra } from '../extra.ts';
import { findLatest } from './feed.ts';
import { changeRoutes } from './routes.ts';

export const extra: Extra = {
  pages: { overview: async (c) => ({ changedAt: await findLatest(c.env, c.get('caller')) }) },
  routes: changeRoutes,
};
