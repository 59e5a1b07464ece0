import { getCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { type Child, useContext } from 'hono/jsx';
import { config } from '../core/platform/config.ts';
import type { Context } from '../core/platform/http/context.ts';
import { type ReportedFailure, statusOf } from '../core/platform/http/failures.ts';
import type { Tab } from './added.ts';
import { App, currentOf, Gate, isWithin, searchPath } from './app-frame.tsx';
import { Breakable } from './breakable.tsx';
import { tabsOf } from './menu.tsx';
import { Note } from './parts.tsx';
import { PageReader, type Reader } from './reader.ts';
import { versionPath } from './session/page-version.ts';
import { mayGo } from './session/rights.ts';
import { watchedBy } from './session/signed-in.ts';
import { takeFlash } from './submit.ts';
import { isTimeZone, Time } from './time.tsx';

export type Head = {
  title: string;
  state?: Child;
  lead?: Child;
  above?: { href: string; name: string }[];
  /** Buttons, at most one of them primary. */
  actions?: Child;
  /** For forms and settings. */
  narrow?: boolean;
};

/** The reader's time zone: their own choice, otherwise their browser's, otherwise UTC. */
export const timeZoneOf = (c: Context): string => {
  const chosen = c.get('session')?.user.timeZone;
  return chosen && isTimeZone(chosen) ? chosen : browserZoneOf(c);
};

export function browserZoneOf(c: Context): string {
  const zone = getCookie(c, 'timezone');
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC';
}

/** Responds with a whole page: with the menu, or the status of `failed`. */
export async function page(
  c: Context,
  head: Head,
  content: Child,
  failed?: ReportedFailure['kind'],
): Promise<Response> {
  const session = c.get('session');
  const shownAgain = c.get('shownAgain');
  const failure = failed ?? (shownAgain?.errors.length ? 'invalid' : undefined);
  const watched = session && (watchedBy(c) ?? { of: 'account', id: session.user.accountId });
  // What an operator looks at is not watched: they have no row that says whether they may.
  const versionUrl =
    watched && !failure && !session.look ? await versionPath(c, watched, session.hash) : undefined;
  const flash = takeFlash(c);
  const reader: Reader = {
    role: session?.user.role ?? 'viewer',
    mayGo: (method, address) => mayGo(c, method, address),
    zone: timeZoneOf(c),
    units: session?.units ?? 'metric',
    mapStyle: failure ? undefined : config(c.env).mapStyleUrl,
    shownAgain,
  };
  const tabs = tabsOf(c);
  const isTab = tabs.some(({ href, name }) => href === c.req.path && name === head.title);
  const inside = (
    <>
      {flash && (
        <Note mood={flash.mood} role="status">
          {flash.text}
        </Note>
      )}
      {session?.look && (
        <Note mood="warn">
          You are viewing this account as an operator until <Time at={session.look} />. You cannot
          change anything or open evidence. The account’s audit log shows that you were here.
        </Note>
      )}
      {isTab ? (
        <SettingsTabs path={c.req.path} tabs={tabs} />
      ) : (
        <PageHead head={{ above: settingsAbove(c.req.path, tabs), ...head }} />
      )}
      {content}
    </>
  );
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>
          {failure === 'invalid' ? 'Error: ' : ''}
          {head.title} · Fleet Data Service
        </title>
        <link rel="icon" href="/design/mark.svg" />
        <link rel="preload" href="/design/geist.woff2" as="font" type="font/woff2" crossorigin="" />
        <link rel="stylesheet" href="/design/design.css" />
        <script src="/portal/portal.js" defer></script>
        <script src="/portal/live.js" defer></script>
      </head>
      <body
        data-version-url={versionUrl}
        data-version={session?.version}
        data-units={session?.units}
      >
        <PageReader.Provider value={reader}>
          {session ? (
            <App
              session={session}
              path={c.req.path}
              narrow={head.narrow ?? false}
              searches={c.get('roleOf')?.('GET', searchPath) !== undefined}
            >
              {inside}
            </App>
          ) : (
            <Gate>{inside}</Gate>
          )}
        </PageReader.Provider>
      </body>
    </html>
  );
  // Without a doctype browsers use quirks mode.
  return c.html(html`<!DOCTYPE html>${document}`, failure && statusOf(failure));
}

const PageHead = ({ head: { title, state, lead, above, actions } }: { head: Head }) => (
  <header class="page-head">
    <div>
      {above && above.length > 0 && (
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            {above.map(({ href, name }) => (
              <li>
                <a href={href}>
                  <Breakable text={name} />
                </a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="title-row">
        <h1>
          <Breakable text={title} />
        </h1>
        <span class="contents" id="state-now" data-live>
          {state}
        </span>
      </div>
      {lead && <p>{lead}</p>}
    </div>
    {actions && <div class="actions">{actions}</div>}
  </header>
);

/** The tab of the settings that a page is within, to be above its title. */
const settingsAbove = (path: string, tabs: Tab[]) =>
  tabs.filter(({ href }) => isWithin(path, href));

/** The settings' title, and their tabs below it. */
const SettingsTabs = ({ path, tabs }: { path: string; tabs: Tab[] }) => {
  const { mayGo } = useContext(PageReader);
  return (
    <header>
      <h1>Settings</h1>
      <nav class="tabs-line" aria-label="Settings">
        {tabs
          .filter(({ href }) => mayGo('GET', href))
          .map(({ href, name }) => (
            <a href={href} aria-current={currentOf(path, href)}>
              {name}
            </a>
          ))}
      </nav>
    </header>
  );
};
