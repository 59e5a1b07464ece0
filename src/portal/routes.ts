import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { config } from '../platform/config.ts';
import { Refusal } from '../platform/errors.ts';
import { type App, allowedMethods, type Context, seeOther } from '../platform/http/context.ts';
import * as accident from './accidents/accident.tsx';
import * as accidents from './accidents/accidents.tsx';
import * as evidence from './accidents/evidence.tsx';
import { openReport } from './accidents/report.tsx';
import * as connectionActions from './connections/actions.tsx';
import { addConnection, changeCredential } from './connections/add.tsx';
import { showConnection } from './connections/connection.tsx';
import * as connections from './connections/connections.tsx';
import * as links from './connections/links.tsx';
import { addOwn } from './connections/own.tsx';
import * as events from './events/events.tsx';
import * as fleet from './fleet/lists.tsx';
import * as profile from './fleet/profile.tsx';
import * as trips from './fleet/trips.tsx';
import { overview } from './overview/overview.tsx';
import { admit, methodsOf, type Route, rolesIn } from './session/rights.ts';
import { sameOriginOnly } from './session/same-origin.ts';
import { signedIn } from './session/session.ts';
import { tick } from './session/tick.ts';
import * as account from './settings/account.tsx';
import * as audit from './settings/audit.tsx';
import * as exports from './settings/exports.tsx';
import * as notifications from './settings/notifications.tsx';
import * as people from './settings/people.tsx';
import * as signInSettings from './settings/sign-in.tsx';
import * as tokens from './settings/tokens.tsx';
import * as signIn from './sign-in/sign-in.tsx';
import { comeBack } from './sign-in/single-sign-on.tsx';
import { renderFailurePage } from './ui/failures.tsx';
import { formsOnce } from './ui/once.ts';
import * as webhookActions from './webhooks/actions.tsx';
import * as delivery from './webhooks/delivery.tsx';
import * as webhookForm from './webhooks/form.tsx';
import { askReplay, replayPart } from './webhooks/replay.tsx';
import * as webhook from './webhooks/webhook.tsx';
import * as webhooks from './webhooks/webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
export const maxFormBytes = 256 * 1024;

/** The origin of the map tiles: the only other host that pages may call. */
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
    mediaSrc: ["'self'"],
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

/** The portal's pages and actions: guards and pages read here who may use them. */
const table: Route[] = [
  ['GET', '/sign-in', 'anyone', signIn.requestPage],
  ['POST', '/sign-in', 'anyone', signIn.requestLink],
  ['GET', '/sign-in/:link', 'anyone', signIn.confirm],
  ['POST', '/sign-in/:link', 'anyone', signIn.signInByLink],
  ['GET', '/sso', 'anyone', comeBack],
  ['GET', '/tick', 'anyone', tick],
  ['FORM', '/connect/:link', 'anyone', links.outside],
  ['FORM', '/connect/:link/withdraw', 'anyone', links.endOutside],

  ['POST', '/sign-out', 'viewer', (c) => signIn.endSession(c, false)],
  ['POST', '/sign-out-everywhere', 'viewer', (c) => signIn.endSession(c, true)],
  ['GET', '/', 'viewer', overview],

  ['GET', '/connections', 'viewer', connections.list],
  ['GET', '/connections/links', 'admin', links.list],
  ['POST', '/connections/links', 'admin', links.create, 'limited'],
  ['FORM', '/connections/links/:id/revoke', 'admin', links.revoke],
  ['FORM', '/connections/new', 'member', addConnection, 'limited'],
  ['FORM', '/connections/own', 'admin', addOwn, 'limited'],
  ['GET', '/connections/:id', 'viewer', showConnection],
  ['POST', '/connections/:id/keys', 'admin', connectionActions.generateKey, 'limited'],
  ['POST', '/connections/:id/labels', 'admin', connectionActions.mapLabel],
  ['POST', '/connections/:id/pull', 'member', connectionActions.pull, 'limited'],
  ['POST', '/connections/:id/pause', 'member', connectionActions.pause],
  ['POST', '/connections/:id/resume', 'member', connectionActions.resume],
  ['POST', '/connections/:id/webhook-secret', 'member', connectionActions.saveSecret],
  ['POST', '/connections/:id/external-id', 'member', connectionActions.setExternalId],
  ['POST', '/connections/:id/warning', 'member', connectionActions.setWarning],
  ['FORM', '/connections/:id/credential', 'member', changeCredential, 'limited'],
  ['FORM', '/connections/:id/remove', 'member', connectionActions.remove],

  ['GET', '/events', 'viewer', events.list],
  ['GET', '/events.csv', 'viewer', events.file, 'limited'],
  ['GET', '/events/:id', 'viewer', events.detail],
  ['GET', '/accidents', 'viewer', accidents.list],
  ['GET', '/accidents.csv', 'viewer', accidents.file, 'limited'],
  ['GET', '/accidents/:eventId', 'viewer', accident.detail],
  ['POST', '/accidents/:eventId', 'member', accident.handle],
  ['GET', '/accidents/:eventId/report', 'viewer', openReport, 'limited'],
  ['GET', '/accidents/:eventId/evidence', 'viewer', evidence.downloadAll, 'limited'],
  ['GET', '/accidents/:eventId/evidence/:evidenceId', 'viewer', evidence.sendFile],
  ['GET', '/vehicles', 'viewer', fleet.listVehicles],
  ['GET', '/drivers', 'viewer', fleet.listDrivers],
  ['GET', '/vehicles/:id', 'viewer', profile.ofVehicle],
  ['POST', '/vehicles/:id/external-id', 'member', profile.setExternalId],
  ['GET', '/drivers/:id', 'viewer', profile.ofDriver],
  ['GET', '/trips', 'viewer', trips.list],
  ['GET', '/trips/:id', 'viewer', trips.detail],
  ['GET', '/search', 'viewer', fleet.search],

  ['GET', '/webhooks', 'viewer', webhooks.list],
  ['FORM', '/webhooks/new', 'member', webhookForm.add, 'limited'],
  ['GET', '/webhooks/:id', 'viewer', webhook.detail],
  ['FORM', '/webhooks/:id/edit', 'member', webhookForm.edit, 'limited'],
  ['FORM', '/webhooks/:id/delete', 'member', webhookActions.remove],
  ['POST', '/webhooks/:id/pause', 'member', webhookActions.pause],
  ['POST', '/webhooks/:id/resume', 'member', webhookActions.resume],
  ['POST', '/webhooks/:id/try', 'member', webhookActions.tryAgain, 'limited'],
  ['POST', '/webhooks/:id/test-event', 'member', webhookActions.sendEvent, 'limited'],
  ['POST', '/webhooks/:id/test-accident', 'member', webhookActions.sendAccident, 'limited'],
  ['GET', '/webhooks/:id/replay', 'member', askReplay, 'limited'],
  ['POST', '/webhooks/:id/replay', 'member', replayPart, 'limited'],
  ['FORM', '/webhooks/:id/signing', 'member', webhookActions.signing, 'limited'],
  ['GET', '/webhooks/:id/deliveries/:deliveryId', 'viewer', delivery.detail],
  ['POST', '/webhooks/:id/deliveries/:deliveryId/replay', 'member', delivery.replayDelivery, 'limited'],
  ['POST', '/webhooks/:id/deliveries/:deliveryId/send', 'member', delivery.sendDelivery, 'limited'],

  ['GET', '/settings', 'viewer', (c) => seeOther(c, '/portal/settings/tokens')],
  ['GET', '/settings/tokens', 'viewer', tokens.list],
  ['POST', '/settings/tokens', 'admin', tokens.generate, 'limited'],
  ['FORM', '/settings/tokens/limited', 'admin', tokens.generateLimited, 'limited'],
  ['FORM', '/settings/tokens/:id/revoke', 'admin', tokens.revoke],
  ['GET', '/settings/people', 'viewer', people.list],
  ['POST', '/settings/people', 'admin', people.sendInvitation, 'limited'],
  ['FORM', '/settings/people/:id/remove', 'admin', people.remove],
  ['FORM', '/settings/people/:id/role', 'admin', people.changeRole],
  ['GET', '/settings/sign-in', 'admin', signInSettings.show],
  ['POST', '/settings/sign-in', 'admin', signInSettings.save, 'limited'],
  ['GET', '/settings/sign-in/test', 'admin', signInSettings.test, 'limited'],
  ['GET', '/settings/exports', 'viewer', exports.list],
  ['POST', '/settings/exports', 'admin', exports.request, 'limited'],
  ['GET', '/settings/exports/:id/:file', 'admin', exports.sendFile, 'limited'],
  ['GET', '/settings/audit', 'viewer', audit.list],
  ['GET', '/settings/account', 'viewer', account.show],
  ['POST', '/settings/account', 'viewer', account.save],
  ['POST', '/settings/account/units', 'member', account.saveUnits],
  ['POST', '/settings/account/evidence', 'admin', account.saveEvidence],
  ['GET', '/settings/notifications', 'viewer', notifications.showNotifications],
  ['POST', '/settings/notifications', 'viewer', notifications.saveNotifications],
  ['FORM', '/settings/notifications/channels/new', 'member', notifications.channel, 'limited'],
  ['FORM', '/settings/notifications/channels/:id', 'member', notifications.channel, 'limited'],
  ['POST', '/settings/notifications/channels/:id/test', 'member', notifications.sendTest, 'limited'],
  ['FORM', '/settings/notifications/channels/:id/remove', 'member', notifications.removeNamed],
];

export const roleOf = rolesIn(table);

export const portalRoutes = new Hono<App>()
  .use((c, next) => {
    c.set('roleOf', roleOf);
    return next();
  })
  .use(pageHeaders)
  .use(sameOriginOnly)
  .use(
    bodyLimit({
      maxSize: maxFormBytes,
      onError: () => {
        throw new Refusal({ kind: 'too large', limitBytes: maxFormBytes });
      },
    }),
  );

for (const route of table) {
  const [, path, role, handle] = route;
  const signedInOnly = role === 'anyone' ? [] : [signedIn, admit(route), formsOnce];
  portalRoutes.on(methodsOf(route), [path], ...signedInOnly, (c) => handle(c));
}

portalRoutes.all('/*', signedIn, (c) => {
  const allow = allowedMethods(portalRoutes, c.req.path.slice('/portal'.length) || '/');
  throw new Refusal(allow.length > 0 ? { kind: 'method not allowed', allow } : { kind: 'not found' });
});

portalRoutes.onError(renderFailurePage);
