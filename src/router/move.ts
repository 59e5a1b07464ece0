import { cellHeader, partHeader, toAuthorization } from '../core/platform/cells.ts';
import { invalid } from '../core/platform/errors.ts';

/** The path of what the router does itself. */
export const movePath = /^\/operator\/accounts\/[^/]+\/move$/;

/** Workers allows 32 invocations to follow a request: two for each part. */
const maxParts = 14;
const maxMs = 10_000;

/** Moves an account for some seconds, asking both cells in turn. Nothing is kept here: calls are repeated. */
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
  const until = Date.now() + maxMs;
  for (let parts = 0, done = { part: '', problem: null as string | null }; ; parts++) {
    const isLast = parts === maxParts || Date.now() > until;
    const body = JSON.stringify({ ...asked, done: { ...done, isLast } });
    const reply = await ask(
      from,
      new Request(request.url, { method: 'POST', headers: ours, body }),
    );
    const part = reply.headers.get(partHeader);
    if (part === null) return reply;
    theirs.set(partHeader, part);
    const passed = { method: 'PUT', headers: theirs, body: reply.body };
    const arrived = await ask(to, new Request(request.url, passed));
    if (!arrived.ok) return arrived;
    const { data } = await arrived.json<{ data: { problem: string | null } }>();
    done = { part, problem: data.problem };
  }
}
