import { boundCells, cellHeader } from '../platform/cells.ts';
import { Refusal } from '../platform/errors.ts';
import type { Context } from '../platform/http/context.ts';
import { identify, ok } from '../platform/http/envelope.ts';
import { statusOf } from '../platform/http/failures.ts';
import { ask } from './pass.ts';

/** Passes a request on to every cell. Returns the first success, or another response if there is none. */
export async function askAll(c: Context): Promise<Response> {
  const asked = [...boundCells(c.env).keys()].map((cell) => ask(c, cell, c.req.raw.clone()));
  c.executionCtx.waitUntil(Promise.allSettled(asked));
  const successes = asked.map(async (one) => ((await one).ok ? one : Promise.reject(await one)));
  return Promise.any(successes).catch(
    ({ errors }) => errors.find((one: unknown) => one instanceof Response) ?? Promise.reject(errors[0]),
  );
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
const down: Reply = { status: statusOf('unhealthy'), message: 'Does not respond', retryAfter: 60, data };

/** The health of all cells, whose names show that this is a router; `data` is of the first that is ill. @throws Refusal */
export async function health(c: Context): Promise<Response> {
  const names = [...boundCells(c.env).keys()];
  c.header(cellHeader, names.join(', '));
  const request = new Request(c.req.url, { headers: c.req.raw.headers });
  const replyOf = async (cell: string) => (await ask(c, cell, request.clone())).json<Reply>();
  const cells = await Promise.all(
    names.map(async (cell) => ({ cell, ...(await replyOf(cell).catch(() => down)) })),
  );
  const said = (some: typeof cells) => some.map(({ cell, message }) => `${cell}: ${message}`).join('; ');
  const ill = cells.filter(({ status }) => status >= statusOf('invalid'));
  if (ill[0]) throw new Refusal({ ...ill[0], kind: 'unhealthy', message: said(ill) });
  identify(c);
  return ok(c, said(cells.filter(({ message }) => message !== 'Healthy')) || 'Healthy', cells[0]?.data);
}
