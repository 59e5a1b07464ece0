import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { config } from '../platform/config.ts';
import { Refusal } from '../platform/errors.ts';
import { type App, allowedMethods, type Context, seeOther } from '../platform/http/context.ts';
import * as accident from './accidents/accident.tsx';
import * as accidents from './accidents/accidents.tsx';
import * as connectionActions from './connections/actions.tsx';
import * as addConnection from './connections/add.tsx';
import { showConnection } from './connections/connection.tsx';
import * as connections from './connections/connections.tsx';
import * as links from './connections/links.tsx';
import * as event from './events/event.tsx';
import * as events from './events/events.tsx';
import * as fleet from './fleet/lists.tsx';
import * as profile from './fleet/profile.tsx';
import * as trips from './fleet/trips.tsx';
import { overview } from './overview/overview.tsx';
import { limitActions, linkTo, needs, withinRights } from './session/rights.ts';
import { sameOriginOnly } from './session/same-origin.ts';
import { signedIn } from './session/session.ts';
import { tick } from './session/tick.ts';
import * as account from './settings/account.tsx';
import * as audit from './settings/audit.tsx';
import * as exports from './settings/exports.tsx';
import * as notifications from './settings/notifications.tsx';
import * as people from './settings/people.tsx';
import * as tokens from './settings/tokens.tsx';
import * as signIn from './sign-in/sign-in.tsx';
import { renderFailurePage } from './ui/failures.tsx';
import { formsOnce } from './ui/once.ts';
import * as webhookActions from './webhooks/actions.tsx';
import * as delivery from './webhooks/delivery.tsx';
import * as webhookForm from './webhooks/form.tsx';
import * as saveWebhook from './webhooks/save.ts';
import * as webhook from './webhooks/webhook.tsx';
import * as webhooks from './webhooks/webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
export const maxFormBytes = 256 * 1024;

/** The origin of the map tiles, if the operator has chosen a provider: the only other host that pages may call. */
function mapOrigin(c: Context): string {
  const { mapStyleUrl } = config(c.env);
  return mapStyleUrl ? new URL(mapStyleUrl).origin : '';
}

const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    workerSrc: ["'self'"],
    connectSrc: ["'self'", mapOrigin],
    fontSrc: ["'self'"],
    imgSrc: ["'self'", 'data:', mapOrigin],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  referrerPolicy: 'same-origin',
});

/** Pages outside the portal and the documentation: `/` leads to the portal, anything else is not found. */
export async function pageElsewhere(c: Context): Promise<Response> {
  if (c.req.path === '/') return seeOther(c, '/portal');
  await pageHeaders(c, async () => {
    c.res = await renderFailurePage(new Refusal({ kind: 'not found' }), c);
  });
  return c.res;
}

/** Irrevocable actions ask first. */
const asked = ['GET', 'POST'];

/**
 * The portal's pages and actions, each with the role that it needs. Everything but signing in requires a session. Pages
 * that their forms show again need more than the context: they get no `next`.
 */
export const portalRoutes = new Hono<App>()
  .use(pageHeaders)
  .use(sameOriginOnly)
  .use(
    bodyLimit({
      maxSize: maxFormBytes,
      onError: () => {
        throw new Refusal({ kind: 'too large', limitBytes: maxFormBytes });
      },
    }),
  )
  .get('/sign-in', (c) => signIn.requestPage(c))
  .post('/sign-in', signIn.requestLink)
  .get('/sign-in/:link', signIn.confirm)
  .post('/sign-in/:link', signIn.signInByLink)
  .get('/tick', tick)
  .get('/connect/:link', links.showOutside)
  .post('/connect/:link', links.takeOutside)
  .on(['GET', 'POST'], '/connect/:link/withdraw', links.endOutside)

  .use(signedIn)
  .use(withinRights)
  .use(formsOnce)
  .post('/sign-out', needs('viewer'), (c) => signIn.endSession(c, false))
  .post('/sign-out-everywhere', needs('viewer'), (c) => signIn.endSession(c, true))
  .get('/', needs('viewer'), overview)

  .get('/connections', needs('viewer'), connections.list)
  .get('/connections/links', needs('admin'), (c) => links.list(c))
  .post('/connections/links', needs('admin'), limitActions, links.create)
  .on(asked, '/connections/links/:id/revoke', needs('admin'), links.revoke)
  .get('/connections/new', needs('member'), (c) => addConnection.show(c))
  .post('/connections/new', needs('member'), limitActions, (c) => addConnection.take(c))
  .get('/connections/:id', needs('viewer'), (c) => showConnection(c))
  .post('/connections/:id/pull', needs('member'), limitActions, connectionActions.pull)
  .post('/connections/:id/pause', needs('member'), connectionActions.pause)
  .post('/connections/:id/resume', needs('member'), connectionActions.resume)
  .post('/connections/:id/webhook-secret', needs('member'), connectionActions.saveSecret)
  .post('/connections/:id/external-id', needs('member'), connectionActions.setExternalId)
  .post('/connections/:id/warning', needs('member'), connectionActions.setWarning)
  .get('/connections/:id/credential', needs('member'), addConnection.showCredential)
  .post('/connections/:id/credential', needs('member'), limitActions, addConnection.saveCredential)
  .on(asked, '/connections/:id/remove', needs('member'), connectionActions.remove)

  .get('/events', needs('viewer'), events.list)
  .get('/events.csv', needs('viewer'), limitActions, events.file)
  .get('/events/:id', needs('viewer'), event.detail)
  .get('/accidents', needs('viewer'), accidents.list)
  .get('/accidents.csv', needs('viewer'), limitActions, accidents.file)
  .get('/accidents/:eventId', needs('viewer'), (c) => accident.detail(c))
  .post('/accidents/:eventId', needs('member'), accident.handle)
  .get('/accidents/:eventId/report', needs('viewer'), limitActions, accident.openReport)
  .get('/vehicles', needs('viewer'), fleet.listVehicles)
  .get('/drivers', needs('viewer'), fleet.listDrivers)
  .get('/vehicles/:id', needs('viewer'), profile.ofVehicle)
  .post('/vehicles/:id/external-id', needs('member'), profile.setExternalId)
  .get('/drivers/:id', needs('viewer'), profile.ofDriver)
  .get('/trips', needs('viewer'), trips.list)
  .get('/trips/:id', needs('viewer'), trips.detail)
  .get('/search', needs('viewer'), fleet.search)

  .get('/webhooks', needs('viewer'), webhooks.list)
  .get('/webhooks/new', needs('member'), webhookForm.add)
  .post('/webhooks/new', needs('member'), limitActions, saveWebhook.saveNew)
  .get('/webhooks/:id', needs('viewer'), webhook.detail)
  .get('/webhooks/:id/edit', needs('member'), webhookForm.edit)
  .post('/webhooks/:id/edit', needs('member'), limitActions, saveWebhook.saveEdited)
  .on(asked, '/webhooks/:id/delete', needs('member'), webhookActions.remove)
  .post('/webhooks/:id/pause', needs('member'), webhookActions.pause)
  .post('/webhooks/:id/resume', needs('member'), webhookActions.resume)
  .post('/webhooks/:id/test-event', needs('member'), limitActions, webhookActions.sendEvent)
  .post('/webhooks/:id/test-accident', needs('member'), limitActions, webhookActions.sendAccident)
  .get('/webhooks/:id/replay', needs('member'), limitActions, webhookActions.askReplay)
  .post('/webhooks/:id/replay', needs('member'), limitActions, webhookActions.replayPart)
  .get('/webhooks/:id/signing', needs('member'), (c) => webhookActions.showSigning(c))
  .post('/webhooks/:id/signing', needs('member'), limitActions, webhookActions.changeSigning)
  .get('/webhooks/:id/deliveries/:deliveryId', needs('viewer'), delivery.detail)
  .post('/webhooks/:id/deliveries/:deliveryId/replay', needs('member'), limitActions, delivery.replayDelivery)
  .post('/webhooks/:id/deliveries/:deliveryId/send', needs('member'), limitActions, delivery.sendDelivery)

  .get('/settings', needs('viewer'), (c) => seeOther(c, '/portal/settings/tokens'))
  .get('/settings/tokens', needs('viewer'), (c) => tokens.list(c))
  .post('/settings/tokens', needs('admin'), limitActions, tokens.generate)
  .on(asked, '/settings/tokens/:id/revoke', needs('admin'), tokens.revoke)
  .get('/settings/people', needs('viewer'), (c) => people.list(c))
  .post('/settings/people', needs('admin'), limitActions, people.sendInvitation)
  .on(asked, '/settings/people/:id/remove', needs('admin'), people.remove)
  .get('/settings/people/:id/role', needs('admin'), people.edit)
  .post('/settings/people/:id/role', needs('admin'), people.change)
  .get('/settings/exports', needs('viewer'), (c) => exports.list(c))
  .post('/settings/exports', needs('admin'), limitActions, exports.request)
  .get('/settings/exports/:id/:file', needs('admin'), limitActions, exports.download)
  .get('/settings/audit', needs('viewer'), audit.list)
  .get('/settings/account', needs('viewer'), (c) => account.show(c))
  .post('/settings/account', needs('viewer'), account.save)
  .post('/settings/account/units', needs('member'), account.saveUnits)
  .get('/settings/notifications', needs('viewer'), notifications.showNotifications)
  .post('/settings/notifications', needs('viewer'), notifications.saveNotifications)
  .get('/settings/notifications/channels/new', needs('member'), (c) => notifications.showChannel(c))
  .post('/settings/notifications/channels/new', needs('member'), limitActions, notifications.saveSentChannel)
  .get('/settings/notifications/channels/:id', needs('member'), (c) => notifications.showChannel(c))
  .post('/settings/notifications/channels/:id', needs('member'), limitActions, notifications.saveSentChannel)
  .post('/settings/notifications/channels/:id/test', needs('member'), limitActions, notifications.sendTest)
  .on(asked, '/settings/notifications/channels/:id/remove', needs('member'), notifications.removeNamed)
  .all('/*', (c) => {
    const allow = allowedMethods(portalRoutes, c.req.path.slice('/portal'.length) || '/');
    throw new Refusal(allow.length > 0 ? { kind: 'method not allowed', allow } : { kind: 'not found' });
  });

portalRoutes.onError(renderFailurePage);
linkTo(portalRoutes);
