import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { secureHeaders } from 'hono/secure-headers';
import { config } from '../core/platform/config.ts';
import { Refusal } from '../core/platform/errors.ts';
import { type App, type Context, seeOther } from '../core/platform/http/context.ts';
import { declared } from '../extras.ts';
import { renderFailurePage } from '../ui/failures.tsx';
import { pageVersion } from '../ui/session/page-version.ts';
import { limited, role, rolesIn } from '../ui/session/rights.ts';
import { sameOriginOnly } from '../ui/session/same-origin.ts';
import { signedIn } from '../ui/session/signed-in.ts';
import { formsOnce } from '../ui/submit-once.ts';
import * as accident from './accidents/accident.tsx';
import * as accidents from './accidents/accidents.tsx';
import { openReport } from './accidents/report.tsx';
import * as connectionActions from './connections/actions.tsx';
import { showConnection } from './connections/connection.tsx';
import * as connections from './connections/connections.tsx';
import { addOwn } from './connections/own.tsx';
import * as events from './events/events.tsx';
import * as names from './fleet/names.tsx';
import * as profile from './fleet/profile.tsx';
import * as trips from './fleet/trips.tsx';
import { overview } from './overview/overview.tsx';
import * as account from './settings/account.tsx';
import * as audit from './settings/audit.tsx';
import * as people from './settings/people.tsx';
import * as tokens from './settings/tokens.tsx';
import * as signIn from './sign-in/sign-in.tsx';
import * as webhookActions from './webhooks/actions.tsx';
import * as webhookForm from './webhooks/form.tsx';
import * as webhook from './webhooks/webhook.tsx';
import * as webhooks from './webhooks/webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
const maxFormBytes = 256 * 1024;

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
  referrerPolicy: 'strict-origin', // without the query, which has the secret of a link
  overwrite: false, // files of others have a policy of their own
});

/** Pages outside the portal and the documentation: `/` leads to the portal, anything else is not found. */
export async function pageElsewhere(c: Context): Promise<Response> {
  if (c.req.path === '/') return seeOther(c, '/portal');
  await pageHeaders(c, async () => {
    c.res = await renderFailurePage(new Refusal({ kind: 'not found' }), c);
  });
  return c.res;
}

export const portalRoutes = new Hono<App>();

export const roleOf = rolesIn(portalRoutes);

const added = declared('pages');
const [reads] = declared('reads');

portalRoutes.use((c, next) => {
  c.set('roleOf', roleOf);
  c.set('added', added);
  c.set('shows', { connection: showConnection, vehicle: profile.ofVehicle, account: account.show });
  c.set('reads', reads);
  return next();
});
portalRoutes.use(pageHeaders);
for (const { mailed } of added) if (mailed) portalRoutes.route('/', mailed);
portalRoutes.use(sameOriginOnly);
portalRoutes.use(
  bodyLimit({
    maxSize: maxFormBytes,
    onError: () => {
      throw new Refusal({ kind: 'too large', limitBytes: maxFormBytes });
    },
  }),
);
portalRoutes.use(
  methodNotAllowed({
    app: portalRoutes,
    onMethodNotAllowed: (c, allow) =>
      renderFailurePage(new Refusal({ kind: 'method not allowed', allow }), c),
  }),
);

/** A form is shown by GET, and sent by POST. */
const form = ['GET', 'POST'];

portalRoutes.get('/sign-in', (c) => signIn.requestPage(c));
portalRoutes.post('/sign-in', signIn.requestLink);
portalRoutes.get('/sign-in/link', signIn.confirm);
portalRoutes.post('/sign-in/link', signIn.signInByLink);
for (const { open } of added) if (open) portalRoutes.route('/', open);
portalRoutes.get('/page-version', pageVersion);

// What follows is for people who are signed in, and says the role that it needs.
portalRoutes.use(signedIn, formsOnce);

for (const { routes } of added) if (routes) portalRoutes.route('/', routes);

portalRoutes.post('/sign-out', role('viewer'), (c) => signIn.endSession(c, false));
portalRoutes.post('/sign-out-everywhere', role('viewer'), (c) => signIn.endSession(c, true));
portalRoutes.get('/', role('viewer'), overview);

portalRoutes.get('/connections', role('viewer'), connections.list);
portalRoutes.get('/connections/own', role('admin'), addOwn);
portalRoutes.post('/connections/own', role('admin'), limited, addOwn);
portalRoutes.get('/connections/:id', role('viewer'), showConnection);
portalRoutes.post('/connections/:id/keys', role('admin'), limited, connectionActions.generateKey);
portalRoutes.post('/connections/:id/labels', role('admin'), connectionActions.mapLabel);
portalRoutes.on(form, '/connections/:id/remove', role('member'), connectionActions.remove);

portalRoutes.get('/events', role('viewer'), events.list);
portalRoutes.get('/events.csv', role('viewer'), limited, events.file);
portalRoutes.get('/events/:id', role('viewer'), events.detail);
portalRoutes.get('/accidents', role('viewer'), accidents.list);
portalRoutes.get('/accidents.csv', role('viewer'), limited, accidents.file);
portalRoutes.get('/accidents/:eventId', role('viewer'), accident.detail);
portalRoutes.post('/accidents/:eventId', role('member'), accident.handle);
portalRoutes.get('/accidents/:eventId/report', role('viewer'), limited, openReport);
portalRoutes.get('/vehicles', role('viewer'), names.listVehicles);
portalRoutes.get('/drivers', role('viewer'), names.listDrivers);
portalRoutes.get('/vehicles.csv', role('viewer'), limited, names.vehiclesFile);
portalRoutes.get('/drivers.csv', role('viewer'), limited, names.driversFile);
portalRoutes.get('/vehicles/:id', role('viewer'), profile.ofVehicle);
portalRoutes.get('/drivers/:id', role('viewer'), profile.ofDriver);
portalRoutes.get('/trips', role('viewer'), trips.list);
portalRoutes.get('/trips.csv', role('viewer'), limited, trips.file);
portalRoutes.get('/trips/:id', role('viewer'), trips.detail);

portalRoutes.get('/webhooks', role('viewer'), webhooks.list);
portalRoutes.get('/webhooks/new', role('member'), webhookForm.add);
portalRoutes.post('/webhooks/new', role('member'), limited, webhookForm.add);
portalRoutes.get('/webhooks/:id', role('viewer'), webhook.detail);
portalRoutes.get('/webhooks/:id/edit', role('member'), webhookForm.edit);
portalRoutes.post('/webhooks/:id/edit', role('member'), limited, webhookForm.edit);
portalRoutes.on(form, '/webhooks/:id/delete', role('member'), webhookActions.remove);
portalRoutes.post('/webhooks/:id/pause', role('member'), webhookActions.pause);
portalRoutes.post('/webhooks/:id/resume', role('member'), webhookActions.resume);
portalRoutes.get('/settings', role('viewer'), (c) => seeOther(c, '/portal/settings/tokens'));
portalRoutes.get('/settings/tokens', role('viewer'), tokens.list);
portalRoutes.post('/settings/tokens', role('admin'), limited, tokens.generate);
portalRoutes.get('/settings/tokens/limited', role('admin'), tokens.generateLimited);
portalRoutes.post('/settings/tokens/limited', role('admin'), limited, tokens.generateLimited);
portalRoutes.on(form, '/settings/tokens/:id/revoke', role('admin'), tokens.revoke);
portalRoutes.get('/settings/people', role('viewer'), people.list);
portalRoutes.post('/settings/people', role('admin'), limited, people.sendInvitation);
portalRoutes.on(form, '/settings/people/:id/remove', role('admin'), people.remove);
portalRoutes.on(form, '/settings/people/:id/role', role('admin'), people.changeRole);
portalRoutes.get('/settings/audit', role('viewer'), audit.list);
portalRoutes.get('/settings/account', role('viewer'), account.show);
portalRoutes.post('/settings/account', role('viewer'), account.save);
portalRoutes.post('/settings/account/units', role('member'), account.saveUnits);
portalRoutes.all('/*', (c) => renderFailurePage(new Refusal({ kind: 'not found' }), c));

portalRoutes.onError(renderFailurePage);
