import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { config } from '../platform/config.ts';
import { Refusal } from '../platform/errors.ts';
import { type App, allowedMethods, type Context, seeOther } from '../platform/http/context.ts';
import { accidentPage } from './accidents/accident.tsx';
import { accidentPages } from './accidents/accidents.tsx';
import { connectionActions } from './connections/actions.tsx';
import { connectionAddPages } from './connections/add.tsx';
import { connectionPage } from './connections/connection.tsx';
import { connectionPages } from './connections/connections.tsx';
import { eventPage } from './events/event.tsx';
import { eventPages } from './events/events.tsx';
import { fleetLists } from './fleet/lists.tsx';
import { profilePages } from './fleet/profile.tsx';
import { searchPages } from './fleet/search.tsx';
import { tripPage } from './fleet/trip.tsx';
import { tripListPages } from './fleet/trips.tsx';
import { overviewPages } from './overview/overview.tsx';
import { linkTo, needs, withinRights } from './session/rights.ts';
import { sameOriginOnly } from './session/same-origin.ts';
import { signedIn } from './session/session.ts';
import { tickRoutes } from './session/tick.ts';
import { accountPages } from './settings/account.tsx';
import { auditPages } from './settings/audit.tsx';
import { peoplePages } from './settings/people.tsx';
import { tokenPages } from './settings/tokens.tsx';
import { signInPages, signOutActions } from './sign-in/sign-in.tsx';
import { nothingHere, renderFailurePage } from './ui/failures.tsx';
import { webhookActions } from './webhooks/actions.tsx';
import { deliveryPages } from './webhooks/delivery.tsx';
import { webhookForms } from './webhooks/form.tsx';
import { replayPages } from './webhooks/replay.tsx';
import { webhookPages } from './webhooks/webhook.tsx';
import { webhookListPages } from './webhooks/webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
export const maxFormBytes = 256 * 1024;

/** Where maps get their tiles from, if the operator has chosen a provider: the only other host that pages may call. */
function mapOrigin(c: Context): string {
  const { mapStyleUrl } = config(c.env);
  return mapStyleUrl ? new URL(mapStyleUrl).origin : '';
}

/** The headers of a page. */
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

/** What browsers get outside the portal and the documentation: at `/` the portal, elsewhere that nothing is there. */
export async function pageElsewhere(c: Context): Promise<Response> {
  if (c.req.path === '/') return seeOther(c, '/portal');
  await pageHeaders(c, async () => {
    c.res = await nothingHere(c);
  });
  return c.res;
}

/** The portal, where an account's people work. Everything but signing in requires a session. */
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
  .route('/', fleetLists)
  .route('/', profilePages)
  .route('/', tripListPages)
  .route('/', tripPage)
  .route('/', searchPages)
  .route('/', webhookListPages)
  .route('/', webhookForms)
  .route('/', webhookPages)
  .route('/', webhookActions)
  .route('/', replayPages)
  .route('/', deliveryPages)
  .get('/settings', needs('viewer'), (c) => seeOther(c, '/portal/settings/tokens'))
  .route('/', tokenPages)
  .route('/', peoplePages)
  .route('/', auditPages)
  .route('/', accountPages)
  .all('/*', (c) => {
    const allow = allowedMethods(portalRoutes, c.req.path.slice('/portal'.length) || '/');
    throw new Refusal(allow.length > 0 ? { kind: 'method not allowed', allow } : { kind: 'not found' });
  });

portalRoutes.onError(renderFailurePage);
linkTo(portalRoutes);
