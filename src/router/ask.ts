import { mainCell } from '../platform/cells.ts';
import { Refusal } from '../platform/errors.ts';
import type { Context } from '../platform/http/context.ts';
import { longestMs } from '../platform/http/time.ts';
import { inTime } from '../platform/in-time.ts';
import { described, fault } from '../platform/log.ts';

/** The cells that a router is bound to, by name, main first: `CELL_EU` is the cell eu. */
export function cellsOf(env: object): Map<string, Fetcher> {
  const cells = Object.entries(env).flatMap(([name, cell]): [string, Fetcher][] =>
    name.startsWith('CELL_') ? [[name.slice('CELL_'.length).toLowerCase(), cell]] : [],
  );
  return new Map(cells.sort(([a], [b]) => Number(b === mainCell) - Number(a === mainCell)));
}

/** A cell's own limit comes first. Pages and operators' calls wait for receivers, providers and what they delete. */
const apiMs = longestMs + 2_000;
const slowMs = 120_000;

/**
 * Passes a request on to one cell.
 *
 * @throws Refusal: unavailable, when the cell fails or does not respond in time
 */
export async function ask(c: Context, cell: string, request: Request): Promise<Response> {
  const ms = /^\/(?:operator|portal)\b/.test(c.req.path) ? slowMs : apiMs;
  c.set('cell', cell);
  try {
    const service = cellsOf(c.env).get(cell);
    if (!service) throw new Error('not bound');
    const reply = await inTime(service.fetch(request), ms);
    // Whatever fails in a cell's place says so without the id that the cell gives each request.
    if (reply.status >= 500 && !reply.headers.has('X-Request-Id')) throw new Error(`status ${reply.status}`);
    return reply;
  } catch (error) {
    fault('error', { message: 'A cell does not respond', cell, ...described(error) });
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  }
}
