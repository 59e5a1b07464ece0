import { hashToken } from '../accounts/tokens/format.ts';
import { cellHeader, mainCell } from '../platform/cells.ts';
import { minuteMs } from '../platform/durations.ts';
import { Refusal } from '../platform/errors.ts';
import type { Context } from '../platform/http/context.ts';
import { statusOf } from '../platform/http/failures.ts';
import { ask, cellsOf } from './ask.ts';
import type { Named } from './cell-of.ts';

/**
 * Passes a request on to the cell that it names. If the account has left that, follows to the cells where it may be,
 * asking each once, and remembers for a minute which it was.
 *
 * @throws Refusal: unavailable; unauthenticated, when no cell knows the credential
 */
export async function follow(c: Context, named: Named): Promise<Response> {
  const cells = cellsOf(c.env);
  const hash = await hashToken(named.key);
  const asked = new Set<string>();
  const toAsk = [remembered(hash) ?? named.cell];
  let refused: Response | undefined;
  try {
    for (const cell of toAsk) {
      if (asked.has(cell) || !cells.has(cell)) continue;
      asked.add(cell);
      const reply = await ask(c, cell, c.req.raw.clone());
      if (reply.status === statusOf('moved')) toAsk.push(...cellsNamed(reply));
      else if (asked.size > 1 && isUnknown(named, reply)) refused = reply;
      else {
        if (asked.size > 1) remember(hash, cell);
        return reply;
      }
    }
    return refused ?? (await refusal(c, named));
  } finally {
    // The part of a copied body that nobody reads would be kept.
    c.executionCtx.waitUntil(Promise.resolve(c.req.raw.body?.cancel()).catch(() => {}));
  }
}

const cellsNamed = (reply: Response): string[] =>
  (reply.headers.get(cellHeader) ?? '').split(',').map((name) => name.trim());

const signInPath = '/portal/sign-in';

/** Whether this is how a cell refuses what it does not know. */
function isUnknown({ by }: Named, { status, headers }: Response): boolean {
  if (by === 'session') return headers.get('Location') === signInPath;
  if (by === 'sign-in link') return status === statusOf('invalid');
  return status === statusOf(by === 'connect link' ? 'not found' : 'unauthenticated');
}

/**
 * What a cell responds to anything unknown, where each one says that it may be in another.
 *
 * @throws Refusal: unauthenticated, or unavailable
 */
async function refusal(c: Context, { by, key }: Named): Promise<Response> {
  if (by === 'token' || by === "provider's webhook") throw new Refusal({ kind: 'unauthenticated' });
  const request = new Request(c.req.url.replace(key, '-'), c.req.raw.clone());
  request.headers.delete('Cookie');
  return ask(c, mainCell, request);
}

const maxRemembered = 1000;
const found = new Map<string, { cell: string; until: number }>();

function remembered(hash: string): string | undefined {
  const known = found.get(hash);
  return known && known.until > Date.now() ? known.cell : undefined;
}

function remember(hash: string, cell: string): void {
  if (found.size >= maxRemembered) found.clear();
  found.set(hash, { cell, until: Date.now() + minuteMs });
}
