import { cellHeader, partHeader } from '../core/platform/cells.ts';
import { invalid } from '../core/platform/errors.ts';
import { statusOf } from '../core/platform/http/failures.ts';
import { toAuthorization } from './cells.ts';

/** The path of what the router does itself. */
export const movePath = /^\/operator\/accounts\/[^/]+\/move$/;

/** Workers allows 32 invocations to follow a request: two for each part. */
const maxParts = 14;

/**
 * Passes parts of a move from the cell that an account leaves to the other one. Nothing is kept
 * here: operators repeat the call.
 */
export async function moveAccount(
  request: Request,
  cells: string[],
  ask: (cell: string, request: Request) => Promise<Response>,
): Promise<Response> {
  const asked: { to?: string } = Object(await request.json().catch(() => undefined)); // the cell checks it
  const { to = '' } = asked;
  if (!cells.includes(to)) throw invalid(`to must be one of ${cells.join(', ')}`);
  const ours = new Headers(request.headers);
  for (const name of [toAuthorization, 'content-length']) ours.delete(name);
  const theirs = new Headers(ours);
  theirs.set('authorization', request.headers.get(toAuthorization) ?? '');
  const from = request.headers.get(cellHeader) ?? '';
  const askWith = (cell: string, init: RequestInit) => ask(cell, new Request(request.url, init));
  for (let parts = 0, done = { part: '', problem: null as string | null }; ; parts++) {
    const body = JSON.stringify({ ...asked, done: { ...done, isLast: parts === maxParts } });
    const reply = await askWith(from, { method: 'POST', headers: ours, body });
    const part = reply.headers.get(partHeader);
    if (part === null) return reply;
    theirs.set(partHeader, part);
    const arrived = await askWith(to, { method: 'PUT', headers: theirs, body: reply.body });
    const isRefused = arrived.status === statusOf('invalid');
    if (!arrived.ok && !isRefused) return arrived;
    const { message } = await arrived.json<{ message: string }>();
    done = { part, problem: isRefused ? message : null };
  }
}
