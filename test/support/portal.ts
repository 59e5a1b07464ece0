import { exports } from 'cloudflare:workers';
import type { Role } from '#src/core/platform/roles.ts';
import { pageIn, type Typed } from './page.ts';
import { fetchWith } from './service.ts';
import { type Hook, openedBefore, operator, type World } from './world.ts';

export const origin = 'https://portal.example.com';

/** What a browser sends with a request: fields are of a form, `body` is sent as it is. */
export type Sent = {
  cookie?: string;
  origin?: string;
  fields?: Record<string, string> | [name: string, value: string][];
  body?: string;
  headers?: Record<string, string>;
  bindings?: Env;
};

/** Sends a request as a browser does, each from another address. Follows no redirect. */
export async function ask(method: string, path: string, sent: Sent = {}): Promise<Response> {
  const { cookie = '', fields = {}, body = new URLSearchParams(fields), bindings } = sent;
  const headers = {
    cookie,
    origin: sent.origin ?? origin,
    'cf-connecting-ip': crypto.randomUUID(),
    ...sent.headers,
  };
  const request = new Request(origin + path, {
    method,
    redirect: 'manual',
    headers,
    ...(method === 'POST' && { body }),
  });
  return bindings ? fetchWith(bindings, request) : exports.default.fetch(request);
}

/** The page that a reply redirects to, with what it is to say there. */
export function pageAfter(reply: Response, cookie: string): Promise<Response> {
  const cookies = [cookie, ...reply.headers.getSetCookie().map((one) => one.split(';')[0])];
  return ask('GET', reply.headers.get('location') ?? '', { cookie: cookies.join('; ') });
}

/** The same as somebody reads it. */
export const follow = async (reply: Response, cookie: string): Promise<string> =>
  textOf(await pageAfter(reply, cookie));

/** What a response has, as text even if it is a file. */
export const contentOf = async (reply: Response): Promise<string> =>
  new TextDecoder().decode(await reply.arrayBuffer());

export const textOf = async (page: Response): Promise<string> => pageIn(await page.text()).text;

/** A page that somebody has open, and the status of the reply that it came with, or that led to it. */
export type Page = ReturnType<typeof pageIn> & {
  path: string;
  status: number;
  /** Fills in the form with this button by its labels, and presses it. */
  press: (button: string, typed?: Record<string, Typed>) => Promise<Page>;
};

/** The page of a reply from `path`, or the one that it redirects to. */
export async function pageOf(reply: Response, path: string, cookie = ''): Promise<Page> {
  const to = reply.headers.get('location');
  const content = pageIn(await (to === null ? reply : await pageAfter(reply, cookie)).text());
  const at = to ?? path;
  return {
    ...content,
    path: at,
    status: reply.status,
    press: async (button, typed = {}) => {
      const form = content.form(button).fill(typed);
      const { pathname, search } = new URL(form.action, origin + at);
      const fields = form.fields();
      return pageOf(
        await ask('POST', pathname + search, { cookie, fields }),
        pathname + search,
        cookie,
      );
    },
  };
}

/** Somebody in a browser, by their cookie: what they get and read, and what the form that they send leads to. */
export function visitor(cookie: () => string) {
  const get = (path: string, sent: Sent = {}) => ask('GET', path, { cookie: cookie(), ...sent });
  const post = (path: string, fields: Sent['fields'] = {}, sent: Sent = {}) =>
    ask('POST', path, { cookie: cookie(), fields, ...sent });
  return {
    get,
    post,
    page: async (path: string) => pageOf(await get(path), path, cookie()),
    html: async (path: string) => contentOf(await get(path)),
    textAt: async (path: string) => textOf(await get(path)),
    /** The page that a form leads to, as somebody reads it. */
    outcome: async (path: string, fields?: Sent['fields']) =>
      follow(await post(path, fields), cookie()),
  };
}

/** Where an open page asks for its version, and the version that it shows. */
export async function watchedOn(page: Response): Promise<[path: string, version: string]> {
  const [body] = pageIn(await page.text()).all('body');
  return [body?.getAttribute('data-version-url') ?? '', body?.getAttribute('data-version') ?? ''];
}

let people = 0;

/** What a browser asks a server for at this URL. */
export function addressIn(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** What a browser asks for by a new sign-in link, as operators make one. */
export async function newLink(email: string, more: object = {}): Promise<string> {
  const body = { email, ...more };
  return addressIn(
    (await operator.post<{ url: string }>('/operator/sign-in-links', body)).data.url,
  );
}

/** Signs a person of the account in, by a link as the operators make one. The first person becomes an admin. */
export async function signIn({ accountId }: World, role?: Role) {
  const email = `person-${people++}@example.com`;
  const user = { email, ...(role && { role }) };
  const { id } = (
    await operator.post<{ id: string }>(`/operator/accounts/${accountId}/users`, user)
  ).data;
  const link = await newLink(email);
  const setCookie = (await ask('POST', link)).headers.get('set-cookie') ?? '';
  const cookie = setCookie.split(';')[0] ?? '';
  return { id, cookie, link, email, setCookie, ...visitor(() => cookie) };
}

export type Person = Awaited<ReturnType<typeof signIn>>;

/** Somebody of an account, signed in before each test, or all, as the hook says. */
export function personBefore(hook: Hook, us: World): Person {
  const person = openedBefore(hook, () => signIn(us));
  return Object.assign(
    person,
    visitor(() => person.cookie),
  );
}
