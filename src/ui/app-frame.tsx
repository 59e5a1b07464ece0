import type { Child } from 'hono/jsx';
import { Icon, PostForm, roleNames } from './buttons.tsx';
import { Brand, Mark, type MenuLink, menu, settingsPath } from './menu.tsx';
import { maxCounted } from './read/attention.ts';
import type { Session } from './read/find-session.ts';
import { ZoneName } from './time.tsx';

/** The page that an extra has for it. */
export const searchPath = '/portal/search';

/** The page of somebody who is signed in: the menu beside the content or, on a phone, in a drawer. */
export const App = (props: {
  session: Session;
  path: string;
  narrow: boolean;
  searches: boolean;
  children: Child;
}) => {
  const { session, path, narrow, searches, children } = props;
  return (
    <div class="app">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="topbar">
        <Brand name={session.account} />
        <button class="btn btn-ghost" type="button" popovertarget="nav">
          <Icon name="menu" />
          Menu
        </button>
      </header>
      <nav class="strip" aria-label="Shortcuts" id="strip-now" data-live>
        <ul>
          {menu
            .flatMap(({ links }) => links.filter(({ short }) => short))
            .map((link) => (
              <Entry {...{ link, path, session }}>{link.short}</Entry>
            ))}
        </ul>
      </nav>
      <nav class="nav" id="nav" popover="auto" aria-label="Main">
        <Brand name={session.account} />
        {searches && (
          <search>
            <form class="search-field" method="get" action={searchPath}>
              <label class="sr-only" for="find-any">
                Search vehicles, drivers and events
              </label>
              <Icon name="search" small />
              <input
                id="find-any"
                type="search"
                name="q"
                placeholder="Search"
                maxlength={200}
                aria-keyshortcuts="/"
              />
              <kbd hidden>/</kbd>
            </form>
            <div id="found-any" aria-live="polite" />
          </search>
        )}
        {menu.map(({ heading, links }, i) => (
          <div id={`menu-${i}`} data-live>
            {heading && <h2>{heading}</h2>}
            <ul>
              {links.map((link) => (
                <Entry {...{ link, path, session }}>
                  <Icon name={link.icon} />
                  {link.name}
                </Entry>
              ))}
            </ul>
          </div>
        ))}
        <div class="who">
          <p>
            {session.user.email}
            <small>{roleNames[session.user.role]}</small>
          </p>
          <PostForm to="/portal/sign-out">
            <ul>
              <li>
                <button type="submit">
                  <Icon name="log-out" />
                  Sign out
                </button>
              </li>
            </ul>
          </PostForm>
        </div>
      </nav>
      <main
        class={`page${narrow || isWithin(path, settingsPath) ? ' page-narrow' : ''}`}
        id="content"
      >
        {children}
        <p class="foot">
          Times are in <ZoneName />.{' '}
          {!session.look && <a href="/portal/settings/account#time-zone">Change the time zone</a>}
        </p>
      </main>
    </div>
  );
};

/** A page in the menu, with how many of its items need attention. */
const Entry = (props: { link: MenuLink; path: string; session: Session; children: Child }) => {
  const { link, path, session, children } = props;
  const count = link.counts ? session.attention[link.counts] : 0;
  const isBad = link.counts !== 'accidents';
  return (
    <li>
      <a href={link.href} aria-current={currentOf(path, link.href)}>
        {children}{' '}
        {count > 0 && (
          <span class={`count${isBad ? ' count-bad' : ''}`}>
            {count < maxCounted ? count : `${maxCounted - 1}+`}
            <span class="sr-only"> {isBad ? 'with a problem' : 'to look at'}</span>
          </span>
        )}
      </a>
    </li>
  );
};

export const Gate = ({ children }: { children: Child }) => (
  <div class="gate">
    <main>
      <section class="panel">
        <Mark />
        {children}
      </section>
    </main>
    <footer>
      <a href="/docs">API documentation</a>
    </footer>
  </div>
);

export const currentOf = (path: string, href: string): 'page' | 'true' | undefined =>
  path === href ? 'page' : isWithin(path, href) ? 'true' : undefined;

/** Whether `path` is the page or below it. The first page has nothing below it. */
export const isWithin = (path: string, href: string): boolean =>
  path === href || (href !== '/portal' && path.startsWith(`${href}/`));
