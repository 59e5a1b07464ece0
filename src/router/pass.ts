import { html } from 'hono/html';
import { hashToken } from '../core/accounts/tokens/format.ts';
import { cellHeader, mainCell } from '../core/platform/cells.ts';
import { minuteMs } from '../core/platform/durations.ts';
import { Refusal } from '../core/platform/errors.ts';
import { type Context, identify, ok } from '../core/platform/http/context.ts';
import { longestMs } from '../core/platform/http/every-request.ts';
import { statusOf } from '../core/platform/http/failures.ts';
import { inTime } from '../core/platform/in-time.ts';
import { fault } from '../core/platform/log.ts';
import { remembered } from '../core/platform/remembered.ts';
import { byProviderIn } from '../people/by-provider.ts';
import type { Named } from './cell-of.ts';
import { boundCells, cellsNamed } from './cells.ts';
import { plainPage } from './plain-page.ts';

/** Passes a request on to one cell. @throws Refusal: unavailable, when it fails or does not respond in time */
export async function ask(c: Context, cell: string, request: Request): Promise<Response> {
  // A cell's own limit comes first.
  const ms = /^\/(?:operator|portal)\b/.test(c.req.path) ? 120_000 : longestMs + 2_000;
  c.set('cell', cell);
  try {
    const reply = await inTime(
      Promise.resolve(boundCells<Fetcher>(c.env).get(cell)?.fetch(request)),
      ms,
    );
    if (!reply) throw new Error('not bound');
    // Whatever fails in a cell's place says so without the id that the cell gives each request.
    if (reply.status >= 500 && !reply.headers.has('X-Request-Id'))
      throw new Error(`status ${reply.status}`);
    return reply;
  } catch (error) {
    fault('error', 'A cell does not respond', { cell }, error);
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  }
}

/** Where accounts have moved, by the hash of what a request named their former cell by. */
const moved = remembered<string>();

/** Passes a request to the cells where its account may be. @throws Refusal: unavailable, unauthenticated */
export async function pass(c: Context, named: Named): Promise<Response> {
  const cells = boundCells(c.env);
  const hash = await hashToken(named.key);
  const toAsk = [moved.get(hash) ?? named.cell];
  let failed: Promise<Response> | undefined;
  let refused: Response | undefined;
  // What is added meanwhile is walked as well.
  for (const cell of toAsk) {
    if (!cells.delete(cell)) continue;
    const asked = ask(c, cell, c.req.raw.clone());
    const reply = await asked.catch(() => undefined);
    if (reply?.status === statusOf('moved')) toAsk.push(...cellsNamed(reply));
    else if (!reply) failed ??= asked;
    else if (toAsk.length > 1 && isUnknown(named, reply)) refused = reply;
    else {
      if (toAsk.length > 1) moved.set(hash, cell, minuteMs);
      return reply;
    }
  }
  return failed ?? refused ?? refusal(c, named);
}

/** Whether this is how a cell refuses what it does not know. */
function isUnknown({ by }: Named, { status, headers }: Response): boolean {
  if (by === 'session')
    return headers.get('Location') === '/portal/sign-in' && !headers.has('Set-Cookie');
  if (by === 'portal/sign-in') return status === statusOf('invalid');
  return status === statusOf(by === 'portal/connect' ? 'not found' : 'unauthenticated');
}

/** What a cell responds to anything unknown, where each one says that it may be in another. */
function refusal(c: Context, { by }: Named): Promise<Response> {
  if (by === 'token' || by === 'providers') throw new Refusal({ kind: 'unauthenticated' });
  const url = new URL(c.req.url);
  if (url.searchParams.has('secret')) url.searchParams.set('secret', '-');
  const request = new Request(url, c.req.raw.clone());
  request.headers.delete('Cookie');
  return ask(c, mainCell, request);
}

/** How long a sign-in waits for cells that do not respond. */
const providerMs = 6_000;

/**
 * Passes a sign-in on to every cell. Returns where a provider is used, and lets the person choose among several;
 * otherwise the first success, or another.
 */
export async function askAll(c: Context): Promise<Response> {
  const asked = [...boundCells(c.env).keys()].map((cell) => ask(c, cell, c.req.raw.clone()));
  c.executionCtx.waitUntil(Promise.allSettled(asked));
  const replies: Response[] = [];
  const all = asked.map(async (one) => void replies.push(await one));
  await inTime(Promise.allSettled(all), providerMs).catch(() => undefined);
  const byProvider = replies.filter((reply) => byProviderIn(reply));
  if (byProvider.length > 1) return choice(c, byProvider);
  if (byProvider[0]) return byProvider[0];
  const successes = asked.map(async (one) => ((await one).ok ? one : Promise.reject(await one)));
  return Promise.any(successes).catch(
    ({ errors }) =>
      errors.find((one: unknown) => one instanceof Response) ?? Promise.reject(errors[0]),
  );
}

/** The page on which a person chooses among accounts in several cells, each of which has begun a sign-in. */
async function choice(c: Context, replies: Response[]): Promise<Response> {
  for (const cookie of replies.flatMap(({ headers }) => headers.getSetCookie()))
    c.header('Set-Cookie', cookie, { append: true });
  const accounts = replies.flatMap((reply) => byProviderIn(reply) ?? []);
  const lines = accounts.map(
    ({ account, to }) =>
      html`<li>${to ? html`<a href="${to}">${account}</a>` : `${account}: its sign-in is not available`}</li>`,
  );
  identify(c);
  return c.html(plainPage('Choose an account', String(await html`<ul>${lines}</ul>`)));
}

/** Asks cells one by one until one responds. @throws Refusal: unavailable */
export const askAny = (c: Context): Promise<Response> =>
  [...boundCells(c.env).keys()].reduce(
    (asked, cell) => asked.catch(() => ask(c, cell, c.req.raw.clone())),
    Promise.reject<Response>(),
  );

type Reply = { status: number; message: string; retryAfter: number; data: object };

const nothing = { queueBacklog: null, oldestDueSeconds: null, sweptSecondsAgo: null, size: null };
const data = { database: 'unavailable', ...nothing };
const down: Reply = {
  status: statusOf('unhealthy'),
  message: 'Does not respond',
  retryAfter: 60,
  data,
};

/** The health of all cells; `data` is of the first that is ill. @throws Refusal: unhealthy, rate limited */
export async function health(c: Context): Promise<Response> {
  const names = [...boundCells(c.env).keys()];
  c.header(cellHeader, names.join(', '));
  const request = new Request(c.req.url, { headers: c.req.raw.headers });
  const replyOf = async (cell: string) => (await ask(c, cell, request.clone())).json<Reply>();
  const cells = await Promise.all(
    names.map(async (cell) => ({ cell, ...(await replyOf(cell).catch(() => down)) })),
  );
  const said = (some: typeof cells) =>
    some.map(({ cell, message }) => `${cell}: ${message}`).join('; ');
  const limited = cells.filter(({ status }) => status === statusOf('rate limited'));
  const ill = cells.filter((cell) => cell.status >= statusOf('invalid') && !limited.includes(cell));
  if (ill[0]) throw new Refusal({ ...ill[0], kind: 'unhealthy', message: said(ill) });
  if (limited[0]) throw new Refusal({ kind: 'rate limited', retryAfter: limited[0].retryAfter });
  identify(c);
  return ok(
    c,
    said(cells.filter(({ message }) => message !== 'Healthy')) || 'Healthy',
    cells[0]?.data,
  );
}
