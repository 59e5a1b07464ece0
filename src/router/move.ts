import type { MoveProgress } from '../operator/api/moves.ts';
import { cellHeader, toAuthorization } from '../platform/cells.ts';
import { invalid } from '../platform/errors.ts';

/** The path of what the router does itself. */
export const movePath = /^\/operator\/accounts\/[^/]+\/move$/;

/** Workers allows 32 invocations to follow a request: two for each step. */
const maxSteps = 14;
const maxMs = 10_000;

type Asked = NonNullable<MoveProgress['ask']>;
type Envelope<T> = { data: T };

/**
 * Moves an account for some seconds: has the cell that it leaves say what comes next, and the other one do that. `ask`
 * passes a request on to a cell. Nothing is kept here, so that a call that is killed is repeated.
 */
export async function moveAccount(
  request: Request,
  cells: string[],
  ask: (cell: string, request: Request) => Promise<Response>,
): Promise<Response> {
  const from = request.headers.get(cellHeader) ?? '';
  const asked = (await request.json().catch(() => ({}))) as { to?: string }; // the cell checks the rest
  const { to = '' } = asked;
  if (!cells.includes(to))
    throw invalid(`to must be one of ${cells.join(', ')}`, [
      { field: 'to', message: 'must be the name of a cell' },
    ]);
  const headers = new Headers(request.headers);
  for (const name of [toAuthorization, 'content-length']) headers.delete(name);
  const theirs = new Headers(headers);
  theirs.set('authorization', request.headers.get(toAuthorization) ?? '');
  const at = (path: string) => request.url.replace(/\/move$/, path);

  /** Has the other cell do something. */
  async function carryOut({ body, file }: Asked): Promise<Response> {
    if (!file)
      return ask(to, new Request(at('/arrival'), { method: 'POST', headers: theirs, body: body ?? '' }));
    const { key, ...query } = file;
    const name = encodeURIComponent(key);
    const read = await ask(from, new Request(at(`/move/${name}`), { headers }));
    if (!read.ok) return read;
    const written = { method: 'PUT', headers: theirs, body: read.body };
    return ask(to, new Request(at(`/arrival/${name}?${new URLSearchParams(query)}`), written));
  }

  let done = { step: '', next: '', problem: null as string | null };
  for (let steps = 1, until = Date.now() + maxMs; ; steps++) {
    const body = JSON.stringify({ ...asked, done });
    const reply = await ask(from, new Request(request.url, { method: 'POST', headers, body }));
    if (!reply.ok) return reply;
    const envelope: Envelope<MoveProgress> = await reply.json();
    const { ask: next, move } = envelope.data;
    const isOver = move?.state === 'done' || move?.state === 'cancelled';
    if (isOver || steps === maxSteps || Date.now() > until)
      return Response.json({ ...envelope, data: { move } }, { headers: reply.headers });
    if (!next) continue;
    const result = await carryOut(next);
    if (!result.ok) return result;
    const { data }: Envelope<{ problem: string | null }> = await result.json();
    done = { step: next.step, next: next.next, problem: data.problem };
  }
}
