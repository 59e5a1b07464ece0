import { Hono } from 'hono';
import * as v from 'valibot';
import { sendMail } from '../accounts/mail.ts';
import { Email } from '../accounts/people.ts';
import { createSignInLink, signIn, signOut } from '../accounts/sessions.ts';
import type { App, Context } from '../http/context.ts';
import { limitUnknown, withinLimit } from '../http/limits.ts';
import { fault } from '../log.ts';
import { formOf, setSession, signedIn } from './context.ts';
import { Field, Problem, page } from './layout.tsx';

/** Signing in by a link, and out. */
export const signInRoutes = new Hono<App>()
  .get('/sign-in', (c) => askPage(c))
  .post('/sign-in', ask)
  .get('/sign-in/:link', (c) => page(c, 'Sign in', <Confirm />))
  .post('/sign-in/:link', use)
  .post('/sign-out', signedIn, (c) => leave(c, false))
  .post('/sign-out-everywhere', signedIn, (c) => leave(c, true));

const askPage = (c: Context, problem?: string) =>
  page(
    c,
    'Sign in',
    <>
      <Problem message={problem} />
      <form method="post" action="/portal/sign-in">
        <Field
          name="email"
          label="Email address"
          type="email"
          required
          autocomplete="email"
          hint="We send you a link that signs you in. No password."
        />
        <button type="submit">Send link</button>
      </form>
    </>,
    problem ? 400 : 200,
  );

/** The answer is the same, and as fast, whether or not anybody has the address. */
async function ask(c: Context) {
  await limitUnknown(c);
  const { one } = await formOf(c);
  const email = v.safeParse(Email, one('email'));
  if (!email.success) return askPage(c, 'Email address must be an email address');
  const origin = new URL(c.req.url).origin;
  c.executionCtx.waitUntil(
    send(c.env, email.output, origin).catch(() =>
      fault('error', { message: 'A sign-in link could not be sent' }),
    ),
  );
  return page(
    c,
    'Look into your mail',
    <p>
      If this address belongs to somebody here, a link is on its way. It is good for 15 minutes, and once.
    </p>,
  );
}

async function send(env: Env, email: string, origin: string): Promise<void> {
  if (!(await withinLimit(env.SIGN_IN_LIMIT, email))) return;
  const link = await createSignInLink(env, email);
  if (link) await sendLink(env, email, `${origin}/portal/sign-in/${link}`);
}

/** Mails a sign-in link. */
export async function sendLink(env: Env, to: string, url: string): Promise<void> {
  const text = `Open this link to sign in to the Fleet Data Service:\n\n${url}\n\nIt is good for 15 minutes, and once. If you did not ask for it, do nothing.`;
  const html = `<p>Open this link to sign in to the Fleet Data Service:</p><p><a href="${url}">${url}</a></p><p>It is good for 15 minutes, and once. If you did not ask for it, do nothing.</p>`;
  await sendMail(env, { to, subject: 'Your sign-in link', text, html });
}

/** Mail scanners open links; only the button uses one up. */
const Confirm = () => (
  <form method="post">
    <p>One step left.</p>
    <button type="submit">Sign in</button>
  </form>
);

async function use(c: Context) {
  await limitUnknown(c);
  const session = await signIn(c.env, c.req.param('link') ?? '');
  if (!session) return askPage(c, 'This link is used up or too old. Ask for another.');
  setSession(c, session);
  return c.redirect('/portal', 303);
}

async function leave(c: Context, everywhere: boolean) {
  await signOut(c.env, c.get('session'), everywhere);
  setSession(c, '');
  return c.redirect('/portal/sign-in', 303);
}
