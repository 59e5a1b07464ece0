import { Hono } from 'hono';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { role } from '../../../ui/session/rights.ts';
import { listDrivers } from './drivers.tsx';
import { onOverview } from './overview.tsx';

export const pages: Pages = {
  routes: new Hono<App>().get('/drivers', role('viewer'), listDrivers),
  overview: onOverview,
};
