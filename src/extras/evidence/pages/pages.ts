import { Hono } from 'hono';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { limited, role } from '../../../ui/session/rights.ts';
import { downloadAll, onRecord, sendFile } from './evidence.tsx';
import { onAccount, saveEvidence } from './settings.tsx';

export const pages: Pages = {
  routes: new Hono<App>()
    .get('/accidents/:eventId/evidence', role('viewer'), limited, downloadAll)
    .get('/accidents/:eventId/evidence/:evidenceId', role('viewer'), sendFile)
    .post('/settings/account/evidence', role('admin'), saveEvidence),
  account: onAccount,
  record: onRecord,
};
