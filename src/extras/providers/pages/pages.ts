import { Hono } from 'hono';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { limited, role } from '../../../ui/session/rights.ts';
import { connectionSql } from '../connected.ts';
import { findReport } from '../report.ts';
import { pause, pull, resume, saveSecret } from './actions.ts';
import { addConnection, changeCredential } from './add.tsx';
import { onConnection } from './connection.tsx';
import * as links from './links.tsx';
import { addPath, linksPath } from './paths.ts';
import { pulled } from './pulled.tsx';

/** A form is shown by GET, and sent by POST. */
const form = ['GET', 'POST'];

export const pages: Pages = {
  open: new Hono<App>()
    .on(form, '/connect', links.outside)
    .on(form, '/connect/withdraw', links.endOutside),
  routes: new Hono<App>()
    .get('/connections/links', role('admin'), links.list)
    .post('/connections/links', role('admin'), limited, links.create)
    .on(form, '/connections/links/:id/revoke', role('admin'), links.revoke)
    .get('/connections/new', role('member'), addConnection)
    .post('/connections/new', role('member'), limited, addConnection)
    .post('/connections/:id/pull', role('member'), limited, pull)
    .post('/connections/:id/pause', role('member'), pause)
    .post('/connections/:id/resume', role('member'), resume)
    .post('/connections/:id/webhook-secret', role('member'), saveSecret)
    .get('/connections/:id/credential', role('member'), changeCredential)
    .post('/connections/:id/credential', role('member'), limited, changeCredential),
  forms: ['credential'],
  connectionSql,
  pulled,
  connection: onConnection,
  connecting: {
    href: addPath,
    text: 'Choose your telematics provider, and enter its API token. Its data is pulled automatically.',
    others: [{ href: linksPath, name: 'Connect links' }],
  },
  report: findReport,
};
