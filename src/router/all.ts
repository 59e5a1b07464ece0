import { Refusal } from '../platform/errors.ts';
import type { Context } from '../platform/http/context.ts';
import { identify, ok } from '../platform/http/envelope.ts';
import { statusOf } from '../platform/http/failures.ts';
import { ask, cellsOf } from './ask.ts';

/** Passes a request on to every cell, and returns the first good response; if there is none, another. */
export async function askAll(c: Context): Promise<Response> {
  const replies = [...cellsOf(c.env).keys()].map((cell) => ask(c, cell, c.req.raw.clone()));
  c.executionCtx.waitUntil(Promise.allSettled([...replies, c.req.raw.body?.cancel()]));
  c.set('cell', undefined);
  const good = replies.map(async (asked) => {
    const reply = await asked;
    if (!reply.ok) throw reply;
    return reply;
  });
  return Promise.any(good).catch(({ errors }: AggregateError) => {
    const reply = errors.find((error) => error instanceof Response);
    if (reply) return reply;
    throw errors[0];
  });
}

/** Asks cells in turn until one responds. What changes something is for the first alone. @throws Refusal: unavailable */
export async function askAny(c: Context): Promise<Response> {
  const [first = '', ...others] = cellsOf(c.env).keys();
  const request = c.req.raw;
  if (!/^(?:GET|HEAD)$/.test(request.method)) return ask(c, first, request);
  return others.reduce((asked, cell) => asked.catch(() => ask(c, cell, request)), ask(c, first, request));
}

type Envelope = { message: string; data?: object; retryAfter?: number };

/** The health of all cells: `data` is that of the first that is not healthy. @throws Refusal: unhealthy, rate limited */
export async function health(c: Context): Promise<Response> {
  identify(c);
  const request = new Request(c.req.url, { headers: c.req.raw.headers });
  const cells = await Promise.all(
    [...cellsOf(c.env).keys()].map(async (cell) => {
      const reply = await ask(c, cell, request.clone()).catch(() => undefined);
      const body: Envelope = reply ? await reply.json() : { message: 'Does not respond' };
      return { ...body, said: `${cell}: ${body.message}`, status: reply?.status };
    }),
  );
  c.set('cell', undefined);
  const limited = cells.find(({ status }) => status === statusOf('rate limited'));
  if (limited) throw new Refusal({ kind: 'rate limited', retryAfter: limited.retryAfter ?? retryAfter });
  const [ill, ...others] = cells.filter(({ status }) => status !== healthy);
  if (ill) {
    const message = [ill, ...others].map(({ said }) => said).join('; ');
    throw new Refusal({ kind: 'unhealthy', message, retryAfter, data: ill.data ?? unknown });
  }
  const warned = cells.filter(({ message }) => message !== 'Healthy');
  return ok(c, warned.map(({ said }) => said).join('; ') || 'Healthy', cells[0]?.data);
}

const healthy = 200;
const retryAfter = 60;

/** What is known of a cell that does not respond. */
const unknown = {
  ...{
    database: 'unavailable',
    queueBacklog: null,
    oldestDueSeconds: null,
    sweptSecondsAgo: null,
    size: null,
  },
};
