import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { Refusal } from '../errors.ts';
import type { App } from '../http/context.ts';
import { allowedMethods } from '../http/methods.ts';
import { seeOther } from '../http/redirect.ts';
import { accidentPages } from './accidents.tsx';
import { auditPages } from './audit.tsx';
import { connectionPages } from './connections.tsx';
import { deliveryPages } from './delivery.tsx';
import { eventPages } from './events.tsx';
import { renderFailurePage } from './failures.tsx';
import { notificationPages } from './notifications.tsx';
import { peoplePages } from './people.tsx';
import { replayPages } from './replay.tsx';
import { sameOriginOnly } from './same-origin.ts';
import { signedIn } from './session.ts';
import { signInPages } from './sign-in.tsx';
import { tokenPages } from './tokens.tsx';
import { webhookPages } from './webhook.tsx';
import { webhookActions } from './webhook-actions.tsx';
import { webhookForms } from './webhook-form.tsx';
import { webhookListPages } from './webhooks.tsx';

/** A webhook's form with 1,000 connections and 8 KiB of headers has about half of this. */
const maxFormBytes = 256 * 1024;

/** The portal, where an account's people work. Everything but signing in requires a session. */
export const portalRoutes = new Hono<App>()
  .use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
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
  .use(signedIn)
  .route('/', connectionPages)
  .route('/', eventPages)
  .route('/', accidentPages)
  .route('/', webhookListPages)
  .route('/', webhookForms)
  .route('/', webhookPages)
  .route('/', webhookActions)
  .route('/', replayPages)
  .route('/', deliveryPages)
  .get('/settings', (c) => seeOther(c, '/portal/settings/tokens'))
  .route('/', tokenPages)
  .route('/', peoplePages)
  .route('/', notificationPages)
  .route('/', auditPages)
  .all('/*', (c) => {
    const allow = allowedMethods(portalRoutes, c.req.path.slice('/portal'.length) || '/');
    throw new Refusal(allow.length > 0 ? { kind: 'method not allowed', allow } : { kind: 'not found' });
  });

portalRoutes.onError(renderFailurePage);
