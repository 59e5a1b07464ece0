import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { config } from '../config.ts';
import { Refusal } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { allowedMethods } from '../http/methods.ts';
import { seeOther } from '../http/redirect.ts';
import { accidentPage } from './accident.tsx';
import { accidentPages } from './accidents.tsx';
import { accountPages } from './account.tsx';
import { auditPages } from './audit.tsx';
import { connectionPage } from './connection.tsx';
import { connectionActions } from './connection-actions.tsx';
import { connectionAddPages } from './connection-add.tsx';
import { connectionPages } from './connections.tsx';
import { deliveryPages } from './delivery.tsx';
import { driverPage } from './driver.tsx';
import { driverListPages } from './drivers.tsx';
import { eventPage } from './event.tsx';
import { eventPages } from './events.tsx';
import { renderFailurePage } from './failures.tsx';
import { notificationPages } from './notifications.tsx';
import { overviewPages } from './overview.tsx';
import { peoplePages } from './people.tsx';
import { personRolePages } from './person-role.tsx';
import { replayPages } from './replay.tsx';
import { withinRights } from './rights.ts';
import { sameOriginOnly } from './same-origin.ts';
import { searchPages } from './search.tsx';
import { signedIn } from './session.ts';
import { signInPages, signOutActions } from './sign-in.tsx';
import { tickRoutes } from './tick.ts';
import { tokenPages } from './tokens.tsx';
import { tripPage } from './trip.tsx';
import { tripListPages } from './trips.tsx';
import { vehiclePage } from './vehicle.tsx';
import { vehicleListPages } from './vehicles.tsx';
import { webhookPages } from './webhook.tsx';
import { webhookActions } from './webhook-actions.tsx';
import { webhookForms } from './webhook-form.tsx';
import { webhookListPages } from './webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
const maxFormBytes = 256 * 1024;

/** Where maps get their tiles from, if the operator has chosen a provider: the only other host that pages may call. */
function mapOrigin(c: Context): string {
  const { mapStyleUrl } = config(c.env);
  return mapStyleUrl ? new URL(mapStyleUrl).origin : '';
}

/** The portal, where an account's people work. Everything but signing in requires a session. */
export const portalRoutes = new Hono<App>()
  .use(
    secureHeaders({
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
    }),
  )
  .use(sameOriginOnly)
  .use(
    bodyLimit({
      maxSize: maxFormBytes,
      onError: () => {
        throw new Refusal({ kind: 'too large', limitBytes: maxFormBytes });
      },
    }),
  )
  .route('/', signInPages)
  .route('/', tickRoutes)
  .use(signedIn)
  .use(withinRights)
  .route('/', signOutActions)
  .route('/', overviewPages)
  .route('/', connectionPages)
  .route('/', connectionAddPages)
  .route('/', connectionPage)
  .route('/', connectionActions)
  .route('/', eventPages)
  .route('/', eventPage)
  .route('/', accidentPages)
  .route('/', accidentPage)
  .route('/', vehicleListPages)
  .route('/', vehiclePage)
  .route('/', driverListPages)
  .route('/', driverPage)
  .route('/', tripListPages)
  .route('/', tripPage)
  .route('/', searchPages)
  .route('/', webhookListPages)
  .route('/', webhookForms)
  .route('/', webhookPages)
  .route('/', webhookActions)
  .route('/', replayPages)
  .route('/', deliveryPages)
  .get('/settings', (c) => seeOther(c, '/portal/settings/tokens'))
  .route('/', tokenPages)
  .route('/', peoplePages)
  .route('/', personRolePages)
  .route('/', notificationPages)
  .route('/', auditPages)
  .route('/', accountPages)
  .all('/*', (c) => {
    const allow = allowedMethods(portalRoutes, c.req.path.slice('/portal'.length) || '/');
    throw new Refusal(allow.length > 0 ? { kind: 'method not allowed', allow } : { kind: 'not found' });
  });

portalRoutes.onError(renderFailurePage);
