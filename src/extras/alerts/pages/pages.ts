import { Hono } from 'hono';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { limited, role } from '../../../ui/session/rights.ts';
import { findAlerted } from '../alerted.ts';
import { onConnection, onRecord, setWarning } from './coverage.tsx';
import * as notifications from './notifications.tsx';
import { notified } from './overview.tsx';

const { notificationsPath } = notifications;

const routes = new Hono<App>()
  .post('/connections/:id/warning', role('member'), setWarning)
  .get('/settings/notifications', role('viewer'), notifications.showNotifications)
  .post('/settings/notifications', role('viewer'), notifications.saveNotifications)
  .get('/settings/notifications/channels/new', role('member'), notifications.channel)
  .post('/settings/notifications/channels/new', role('member'), limited, notifications.channel)
  .get('/settings/notifications/channels/:id', role('member'), notifications.channel)
  .post('/settings/notifications/channels/:id', role('member'), limited, notifications.channel)
  .post(
    '/settings/notifications/channels/:id/test',
    role('member'),
    limited,
    notifications.sendTest,
  )
  .on(
    ['GET', 'POST'],
    '/settings/notifications/channels/:id/remove',
    role('member'),
    notifications.removeNamed,
  );

export const pages: Pages = {
  routes,
  tabs: [{ href: notificationsPath, name: 'Notifications' }],
  notified,
  connection: onConnection,
  alerted: findAlerted,
  record: onRecord,
};
