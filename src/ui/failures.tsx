import { type Context, seeOther } from '../core/platform/http/context.ts';
import { failureOf, headersOf, type ReportedFailure } from '../core/platform/http/failures.ts';
import { askWho, LinkButton } from './buttons.tsx';
import { page } from './layout.tsx';
import { neededBy } from './session/rights.ts';

/** Renders anything thrown as a page. People whose session has ended are redirected to the sign-in page. */
export function renderFailurePage(error: Error, c: Context) {
  const failure = failureOf(error, c);
  if (failure.kind === 'unauthenticated') return seeOther(c, '/portal/sign-in');
  for (const [name, value] of Object.entries(headersOf(failure))) c.header(name, value);
  const [title, text, [href, name] = ['/portal', 'Go to the overview']] = explain(failure, c);
  return page(
    c,
    { title },
    <section class="stack">
      <p role="alert">{text}</p>
      <div class="actions">
        <LinkButton href={href} name={name} />
      </div>
      <p class="sub">
        Request ID: <code>{c.get('requestId')}</code>
      </p>
    </section>,
    failure.kind,
  );
}

export const asksForPage = (c: Context): boolean =>
  c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html');

/** What has happened, and where to go from there, by default to the overview. */
type Explanation = [title: string, text: string, way?: [href: string, name: string] | undefined];

function explain(failure: ReportedFailure, c: Context): Explanation {
  if ('message' in failure && failure.message)
    return ['That did not work', failure.message, c.get('session') ? undefined : signInAgain];
  if (failure.kind === 'not allowed')
    return [
      askWho(neededBy(c) ?? 'admin'),
      'Your role does not include this. Nothing has been changed.',
      ['/portal/settings/people', 'See who that is'],
    ];
  return (
    explanations[failure.kind] ?? [
      'Something went wrong',
      'This is our fault. If it happens again, give us the request ID below.',
    ]
  );
}

const signInAgain: [href: string, name: string] = ['/portal/sign-in', 'Go to the sign-in page'];

const explanations: { [kind in ReportedFailure['kind']]?: Explanation } = {
  forbidden: [
    'This account is suspended',
    'Nobody can use it at the moment. Ask the team that runs the service.',
    ['/portal/sign-in', 'Sign in with another address'],
  ],
  'cross-site': [
    'Form refused',
    'This form was not sent from the portal. Open the page again and retry.',
  ],
  'not found': ['Not found', 'This page does not exist, or you do not have access to it.'],
  'method not allowed': ['Method not allowed', 'This page cannot be used in this way.'],
  'too large': ['Too large', 'This form is too large.'],
  'rate limited': ['Too many requests', 'Wait a minute, then try again.'],
  unavailable: ['Temporarily unavailable', 'Wait a few seconds, then try again.'],
};
