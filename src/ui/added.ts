import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Connection } from '../core/fleet/connections.ts';
import { findItem } from '../core/fleet/find.ts';
import type { List } from '../core/fleet/lists/list.ts';
import type { vehicles } from '../core/fleet/lists/vehicles.ts';
import type { ReadPage, Reads } from '../core/fleet/service.ts';
import type { SliceQuery } from '../core/platform/db/cursor.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { readPage } from '../core/platform/db/pages.ts';
import { type App, by, type Context } from '../core/platform/http/context.ts';
import type { StoredWebhook } from '../core/webhooks/stored.ts';
import type { Alongside, PortalUser } from '../people/people.ts';
import type { Excluded } from '../people/sessions.ts';
import type { OnWebhook, OnWebhooks, WebhookForm } from './added-to-webhooks.ts';
import type { IconName } from './icon-names.ts';
import type { FactList, Mood } from './parts.tsx';
import {
  type ConnectionSql,
  type FoundNotified,
  nothingKnown,
  type SelectNotified,
} from './read/attention.ts';
import type { Accident } from './read/named-lists.ts';

/** What an extra adds to the portal's pages. It declares it in its `pages`. */
export type Pages = {
  /** Its routes below `/portal`, for people who are signed in. They come before the portal's own. */
  routes?: Hono<App>;
  /** Routes that mail programs post to as well, which say no origin. */
  mailed?: Hono<App>;
  /** Routes for people who are not signed in. */
  open?: Hono<App>;
  /** How the paths of its forms end that have their results on a page above. */
  forms?: string[];
  /** Its tabs of the settings. */
  tabs?: Tab[];
  /** How people sign in without a link. */
  signIn?: SignIn;
  /** An email that people can choose. */
  email?: Email;
  /** What it adds to the overview. */
  overview?: (c: Context) => Promise<OnOverview>;
  /** Who is notified of accidents besides webhooks, on the overview. */
  notified?: Notified;
  /** What it adds to the pages of a connection and of a vehicle. */
  connection?: (
    c: Context,
    connection: Connection,
    pulled: Pulled | undefined,
  ) => Promise<OnConnection>;
  vehicle?: (vehicle: Item<typeof vehicles.list>) => Child;
  /** What it adds to the list of webhooks, to the page of one, and to its form. */
  webhooks?: (c: Context, slice: SliceQuery) => Promise<OnWebhooks>;
  webhook?: (c: Context, webhook: Promise<StoredWebhook>) => Promise<OnWebhook>;
  webhookForm?: WebhookForm;
  /** The headers that it adds to the calls of a webhook, with … for what may be secret. */
  callHeaders?: (
    webhook: StoredWebhook,
    call: { id: string; at: number },
  ) => { [header: string]: string };
  /** What it adds to the page of an event or accident. */
  record?: (c: Context, record: ShownRecord) => Promise<OnRecord>;
  /** The people and channels that it notified of an accident. */
  alerted?: (env: Env, caller: Caller, id: string) => Promise<Alerted[]>;
  /** Its panels among the settings of the account. */
  account?: (c: Context) => Promise<Child>;
  /** The page of something of its own that has this id. */
  pathOfId?: (env: Env, caller: Caller, id: string) => Promise<string | undefined>;
  /** Finds vehicles and drivers by what is typed into filters. */
  matchFleet?: (env: Env, caller: Caller, typed: Typed) => Promise<Matched>;
  /** SQL of what it knows of connections. */
  connectionSql?: ConnectionSql;
  /** The connections that it pulls, by their ids: those of a slice, or one. */
  pulled?: (c: Context, which: SliceQuery | string) => Promise<Map<string, Pulled>>;
  /** How people connect a provider, if not with a connector of their own. */
  connecting?: Connecting;
  /** Where an accident's report can be opened now, or why it cannot. */
  report?: (env: Env, caller: Caller, accident: Accident) => Promise<OpenReport>;
};

/** A page, such as one of the settings. */
export type Tab = { href: string; name: string };

type SignIn = {
  /** Begins it for an address, if that signs in so. */
  begin: (c: Context, email: string) => Promise<Response | undefined>;
  /** Whether a person may not use links. */
  excluded: Excluded;
  /** Which of its people can use a link. */
  byLink: string;
  /** How long somebody stays signed in. */
  stays: string;
};

/** An email that people can choose, by the name of its field. */
type Email = {
  name: string;
  label: string;
  note: string;
  isChosen: (user: PortalUser) => boolean;
  choose: (c: Context, isChosen: boolean) => Alongside;
};

/** What is on the overview. */
export type OnOverview = {
  /** Beside the accidents that need attention. */
  beside?: Child;
  /** Below both. */
  middle?: Child;
  /** Among the latest arrivals. */
  among?: Child;
  /** Below all the rest. */
  last?: Child;
  /** When something last changed; 0: not within 30 days. */
  changedAt?: number;
};

/** What is read with the overview, and shown of it. */
export type Notified = {
  select: SelectNotified;
  show: (found: FoundNotified) => { steps: SetupStep[]; problems: Problem[] };
};

/** A step to set an account up. */
export type SetupStep = {
  id: string;
  name: string;
  isDone: boolean;
  text: Child;
  href: string;
  button: string;
};

/** What is broken, why, and the button that starts the repair. */
export type Problem = {
  mood: Mood;
  title: Child;
  text: Child;
  href: string;
  name: string;
  about?: string;
};

/** What is on a connection's page. */
export type OnConnection = {
  /** Whose it is at the provider. */
  owner?: string | undefined;
  /** Buttons beside its title, and links among more actions. */
  actions?: Child;
  links?: Child;
  /** A problem, below its health. */
  problem?: Child;
  /** Above all the rest. */
  above?: Child;
  /** Facts, and those further down. */
  facts?: FactList;
  lastFacts?: FactList;
  /** Forms, above the keys of its connector. */
  forms?: Child;
  /** What is below all the rest. */
  below?: Child;
};

/** A connection whose records are pulled, instead of sent by a connector. */
export type Pulled = {
  /** Its health; `health` is what its status alone says. */
  healthOf: (connection: Connection, health: ConnectionHealth) => ConnectionHealth;
  /** Whether people want nothing to be pulled, for now or ever. */
  isStopped: boolean;
  /** The page to repair it on, if that is necessary. */
  repair?: Tab | undefined;
};

/** A connection's health in words. A problem has a note; the most urgent has the highest `urgency`. */
export type ConnectionHealth = {
  mood: Mood;
  word: string;
  urgency: number;
  note?: string;
  icon?: IconName;
};

/** The page that adds a connection, what that is in words, and other pages for the same. */
export type Connecting = { href: string; text: string; others: Tab[] };

export type OpenReport = { link: string } | { missing: string };

/** A person or channel that was notified; `at` is null if that was before it was recorded. */
export type Alerted = { name: string; isChannel: boolean; at: number; isWaiting: boolean };

/** An event, or an accident. */
export type ShownRecord = { id: string; accident?: Accident };

/** What is on its page. */
export type OnRecord = {
  /** Above all the rest of an accident's page. */
  above?: Child;
  main?: Child;
  facts?: FactList;
};

export type Item<L extends List> = ReturnType<L['present']>;

/** Pages of the portal that have forms of extras: see `shown`. */
type Shows = { [page in 'connection' | 'vehicle' | 'account']: Show };
type Show = (c: Context) => Response | Promise<Response>;

declare module 'hono' {
  interface ContextVariableMap {
    /** What the extras add to pages. */
    added?: Pages[];
    shows?: Shows;
    /** How lists are read, instead of from D1 alone. */
    reads?: Reads | undefined;
  }
}

/** What the extras add of one thing, those that have it. */
export const added = <Part extends keyof Pages>(
  c: Context,
  part: Part,
): NonNullable<Pages[Part]>[] =>
  (c.get('added') ?? []).flatMap(({ [part]: found }) => (found === undefined ? [] : [found]));

/** SQL of what extras know of connections. */
export const connectionSql = (c: Context): ConnectionSql =>
  added(c, 'connectionSql')[0] ?? nothingKnown;

/** Shows the page of the portal that has the form which was sent, and what is wrong in it. */
export const shown =
  (page: keyof Shows): Show =>
  (c) => {
    const shows = c.get('shows');
    if (!shows) throw new Error('No page has this form');
    return shows[page](c);
  };

const readsOf = (c: Context): Reads => c.get('reads') ?? { readPage, findItem };

/** Who reads a list, and how. */
export const reading = (c: Context): [Env, Caller, ReadPage] => [...by(c), readsOf(c).readPage];

/** An item of a list by its id; the time in a link to it finds an older one, too. */
export const findListed = async <T>(
  c: Context,
  list: List<T>,
  id: string,
  at?: number,
): Promise<T | undefined> => (await readsOf(c).findItem(...by(c), list, id, at)) as T | undefined; // as this list presents it

/** What people type to find vehicles and drivers; an id comes from a link. */
export type Typed = { vehicle?: string; vin?: string; driver?: string };

/** The matches, at most `maxMatches`; undefined for what was not typed. */
export type Matched = { vehicles?: Match[]; drivers?: Match[] };
export type Match = { id: string; name: string };

export const maxMatches = 100;

/** What matches everything typed. */
export const matched = async (c: Context, typed: Typed): Promise<Matched> => {
  const [matchFleet] = added(c, 'matchFleet');
  return (await matchFleet?.(...by(c), typed)) ?? {};
};
