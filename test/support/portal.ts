import { exports } from 'cloudflare:workers';
import type { Role } from '../../src/platform/roles.ts';
import { fetchWith } from './service.ts';
import { operator, type World } from './world.ts';

/** Where the portal is, for tests. */
export const origin = 'https://portal.example.com';

/** What a browser sends with a request: fields are of a form, `body` is sent as it is. */
export type Sent = {
  cookie?: string;
  origin?: string;
  fields?: Record<string, string> | [name: string, value: string][];
  body?: string;
  headers?: Record<string, string>;
  /** Other bindings than those of the tests. */
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

/** What somebody reads on a page. */
export const textOf = async (page: Response): Promise<string> =>
  (await page.text())
    .replace(/<svg[\s\S]*?<\/svg>|<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&quot;', '"');

/** Somebody in a browser, by their cookie: what they get and read, and what the form that they send leads to. */
export function visitor(cookie: () => string) {
  const get = (path: string) => ask('GET', path, { cookie: cookie() });
  const post = (path: string, fields: Sent['fields'] = {}) => ask('POST', path, { cookie: cookie(), fields });
  return {
    get,
    post,
    html: async (path: string) => (await get(path)).text(),
    textAt: async (path: string) => textOf(await get(path)),
    /** The page that a form leads to, as somebody reads it. */
    outcome: async (path: string, fields?: Sent['fields']) => follow(await post(path, fields), cookie()),
  };
}

/** Where an open page asks for its version, and the version that it shows. */
export async function watchedOn(page: Response): Promise<[path: string, version: string]> {
  const [, path = '', version = ''] =
    /data-tick="([^"]*)" data-version="([^"]*)"/.exec(await page.text()) ?? [];
  return [path.replaceAll('&amp;', '&'), version.replaceAll('&quot;', '"')];
}

let people = 0;

/** Signs a person of the account in, by a link as the operators make one. The first person becomes an admin. */
export async function signIn({ accountId }: World, role?: Role) {
  const email = `person-${people++}@example.com`;
  await operator.post(`/operator/accounts/${accountId}/users`, { email, ...(role && { role }) });
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
  const link = new URL(data.url).pathname;
  const setCookie = (await ask('POST', link)).headers.get('set-cookie') ?? '';
  return { cookie: setCookie.split(';')[0] ?? '', link, email, setCookie };
}

type Control = { name: string; value: string; checkbox: boolean; checked: boolean };

/** The form of a page, with what a browser would send for it, to be changed as a person would. */
export async function formOn(page: Response) {
  const controls: Control[] = [];
  const main = (await page.text()).split('<main')[1] ?? '';
  for (const [, tag, attributes = ''] of main.matchAll(/<(input|select|option)\b([^>]*)>/g)) {
    const attribute = (name: string) =>
      (new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? '').replace(
        /&(?:quot|#39|lt|gt|amp);/g,
        (entity) => entities[entity as keyof typeof entities], // as the pattern has them
      );
    const [name, value, checkbox] = [attribute('name'), attribute('value'), attribute('type') === 'checkbox'];
    const checked = / (?:checked|selected)\b/.test(attributes);
    const select = controls.at(-1);
    if (tag !== 'option') controls.push({ name, value, checkbox, checked });
    else if (checked && select) select.value = value;
  }
  const named = (name: string) => controls.filter((control) => control.name === name);
  return {
    values: (name: string) => named(name).map(({ value }) => value),
    checked: (name: string) => named(name).flatMap(({ value, checked }) => (checked ? [value] : [])),
    /** Types into the control of this name; `place` tells several of one name apart. */
    type(name: string, value: string, place = 0) {
      const control = named(name)[place];
      if (!control) throw new Error(`the form has no ${name} ${place}`);
      control.value = value;
    },
    check(name: string, value: string, checked: boolean) {
      const control = named(name).find((box) => box.value === value);
      if (!control) throw new Error(`the form has no ${name} ${value}`);
      control.checked = checked;
    },
    fields: () =>
      controls
        .filter(({ checkbox, checked }) => !checkbox || checked)
        .map(({ name, value }): [string, string] => [name, value]),
  };
}

const entities = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' };
