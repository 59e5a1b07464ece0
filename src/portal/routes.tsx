import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { Refusal } from '../errors.ts';
import type { App } from '../http/context.ts';
import { renderFailure } from '../http/failures.ts';
import { signedIn } from './context.ts';
import { deliveryPages } from './deliveries.tsx';
import { fleetPages } from './fleet.tsx';
import { page } from './layout.tsx';
import { settingsRoutes } from './settings.tsx';
import { signInRoutes } from './sign-in.tsx';
import { webhookForms } from './webhook-form.tsx';
import { webhookPages } from './webhooks.tsx';

const largestForm = 64 * 1024;

/** The portal: where an account's people work. All but signing in is for those who are signed in. */
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
  .use(
    bodyLimit({
      maxSize: largestForm,
      onError: () => {
        throw new Refusal({ kind: 'too large', limitBytes: largestForm });
      },
    }),
  )
  .use(csrf())
  .route('/', signInRoutes)
  .use(signedIn)
  .route('/', fleetPages)
  .route('/', webhookForms)
  .route('/', webhookPages)
  .route('/', deliveryPages)
  .route('/', settingsRoutes)
  .all('/*', () => {
    throw new Refusal({ kind: 'not found' });
  });

portalRoutes.onError((error, c) => {
  if (error instanceof HTTPException)
    return page(c, 'Refused', <p>This form was not sent from here. Open the page again and retry.</p>, 403);
  if (!(error instanceof Refusal)) {
    renderFailure(error, c); // for the log
    return page(
      c,
      'Something went wrong',
      <p>It is our fault, and has been noted as {c.get('requestId')}.</p>,
      500,
    );
  }
  switch (error.failure.kind) {
    case 'unauthenticated':
    case 'forbidden':
      return c.redirect('/portal/sign-in', 303);
    case 'not found':
      return page(c, 'Not found', <p>There is no such page, or it is not yours.</p>, 404);
    case 'invalid':
      return page(c, 'That did not work', <p role="alert">{error.failure.message}</p>, 400);
    case 'rate limited':
      return page(c, 'Too many tries', <p>Wait for a minute, and try again.</p>, 429);
    default:
      return renderFailure(error, c);
  }
});
