import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { Context } from '../http/context.ts';
import { type ReportedFailure, statusOf } from '../http/failures.ts';
import { PostButton } from './components.tsx';

type Link = { href: string; name: string };

const menu: (Link & { tabs?: Link[] })[] = [
  { href: '/portal', name: 'Connections' },
  { href: '/portal/events', name: 'Safety events' },
  { href: '/portal/accidents', name: 'Accidents' },
  { href: '/portal/webhooks', name: 'Webhooks' },
  {
    href: '/portal/settings',
    name: 'Settings',
    tabs: [
      { href: '/portal/settings/tokens', name: 'API Tokens' },
      { href: '/portal/settings/people', name: 'People' },
      { href: '/portal/settings/notifications', name: 'Notifications' },
      { href: '/portal/settings/audit', name: 'Audit log' },
    ],
  },
];

/** Replies with a whole page: with the menu for people who are signed in, and with the status of a `failure`. */
export function page(c: Context, title: string, content: Child, failure?: ReportedFailure['kind']) {
  const session = c.get('session');
  const { path } = c.req;
  const tabs = menu.find(({ href }) => isWithin(path, href))?.tabs;
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} · Fleet Data Service</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/portal/pico.min.css" />
        <link rel="stylesheet" href="/portal/portal.css" />
        <script src="/portal/portal.js" defer></script>
      </head>
      <body>
        <header class="container">
          <nav aria-label="Main">
            <ul>
              <li>
                <strong>{session?.account ?? 'Fleet Data Service'}</strong>
              </li>
            </ul>
            {session && <Links links={menu} path={path} />}
          </nav>
        </header>
        <main class="container">
          {session && tabs && (
            <nav aria-label="Settings">
              <Links links={tabs} path={path} />
            </nav>
          )}
          <h1>{title}</h1>
          {content}
        </main>
        {session && (
          <footer class="container">
            <div class="actions">
              <small>Signed in as {session.user.email}</small>
              <PostButton to="/portal/sign-out" name="Sign out" quiet />
              <PostButton to="/portal/sign-out-everywhere" name="Sign out everywhere" quiet />
              <a href="/docs">API documentation</a>
            </div>
          </footer>
        )}
      </body>
    </html>
  );
  // Without a doctype browsers fall back to the rules of the nineties.
  return c.html(html`<!DOCTYPE html>${document}`, failure && statusOf(failure));
}

/** Links of which one leads to this page, or to what it is a part of. */
const Links = ({ links, path }: { links: Link[]; path: string }) => (
  <ul>
    {links.map(({ href, name }) => (
      <li>
        <a href={href} aria-current={path === href ? 'page' : isWithin(path, href) ? 'true' : undefined}>
          {name}
        </a>
      </li>
    ))}
  </ul>
);

/** True for the page itself and those below it. The first page is above all others, and a part of none. */
const isWithin = (path: string, href: string): boolean =>
  path === href || (href !== '/portal' && path.startsWith(`${href}/`));
