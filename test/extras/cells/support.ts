import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { Move } from '#src/extras/cells/operations.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { toAuthorization } from '#src/router/cells.ts';
import { moveAccount } from '#src/router/move.ts';
import { type AccountRows, rowsOf } from '#test/support/account-rows.ts';
import { call, fetchWith, type Reply, through } from '#test/support.ts';

/** The bindings of two cells of one team. The queue is that of the first. */
export const cells: Record<string, Env> = {
  main: env,
  eu: {
    ...env,
    CELL: 'eu',
    DB: env.DB_EU,
    ARCHIVE: env.ARCHIVE_EU,
    OPERATOR_KEY: 'another operator key, 32+ characters',
  } as Env,
};

export const cell = (name: string): Env => {
  const found = cells[name];
  if (!found) throw new Error(`there is no cell ${name}`);
  return found;
};

/** A move from one to the other. */
export const there = ['main', 'eu'];

export const prepareCells = () => applyD1Migrations(env.DB_EU, env.MIGRATIONS);

export const rowsIn = async (name: string, query: string, ...values: unknown[]) =>
  (
    await cell(name)
      .DB.prepare(query)
      .bind(...values)
      .all<Record<string, unknown>>()
  ).results;

const bearer = (name: string) => `Bearer ${cells[name]?.OPERATOR_KEY}`;

export const operate = <T = unknown>(
  name: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) =>
  call<T>(method, `/operator${path}`, {
    headers: { authorization: bearer(name), ...headers },
    body,
    bindings: cell(name),
  });

/** Works on a move for some seconds, through a router that is killed before so many calls. */
export async function workOn(
  accountId: string,
  [from, to]: string[],
  {
    cancel = false,
    bindings = cells,
    killedAt = Number.POSITIVE_INFINITY,
  }: { cancel?: boolean; bindings?: Record<string, Env>; killedAt?: number } = {},
) {
  // As if what was under way had ended.
  const stopped = "update moves set move = json_set(move, '$.since', 0) where state = 'copying'";
  await rowsIn(String(from), stopped);
  const request = new Request(`https://api.example.com/operator/accounts/${accountId}/move`, {
    method: 'POST',
    headers: {
      'fleet-cell': String(from),
      authorization: bearer(String(from)),
      [toAuthorization]: bearer(String(to)),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ to, cancel }),
  });
  let calls = 0;
  const ask = async (name: string, asked: Request) => {
    if (calls++ === killedAt) throw new Error('killed');
    return fetchWith(bindings[name] ?? cell(name), asked);
  };
  const response = await moveAccount(request, Object.keys(cells), ask);
  return { ...(await response.json<Reply<Move>>()), status: response.status };
}

/** Moves an account, or cancels that, as the tool does, to the end. */
export async function moveTo(accountId: string, names: string[], cancel = false) {
  for (let calls = 0; calls < 500; calls++) {
    const { status, message, data: move } = await workOn(accountId, names, { cancel });
    if (status === 503) continue;
    if (status !== 200) throw new Error(message);
    if (move.problem && move.state === 'cancelled') throw new Error(move.problem);
    if (move.state === 'done' || move.state === 'cancelled') return move;
  }
  throw new Error('the move does not end');
}

/** Deletes what a cell has left of accounts that live elsewhere, as its minute does in the end. */
export async function removeLeft(name: string) {
  await rowsIn(name, "update deletions set due_at = 0 where kind = 'copy'");
  const left = async () => {
    await continueDeletions(cell(name));
    return rowsIn(name, "select 1 from deletions where kind = 'copy'");
  };
  await expect.poll(left).toEqual([]);
}

/** Bindings that fail after so many calls of D1; every other time the last one is carried out. */
export function killedAfter(calls: number, bindings: Env) {
  let left = calls;
  return {
    ...bindings,
    DB: through(bindings.DB, async (run) => {
      if (left-- > 0) return run();
      if (left === -1 && calls % 2 === 1) await run();
      throw new Error('killed');
    }),
  };
}

/** All rows of an account in a cell, but for those that a move itself adds or changes. */
export async function allRows(name: string, accountId: string): Promise<AccountRows> {
  const { accounts: _, audit_log: log = [], ...others } = await rowsOf(accountId, cell(name).DB);
  return { ...others, audit_log: log.filter(({ fields }) => fields !== '["cell"]') };
}

export const filesIn = async (name: string, accountId: string) => {
  const { objects } = await cell(name).ARCHIVE.list();
  return (
    objects
      .filter(({ key }) => key.includes(accountId))
      // That of a file which came in parts is no checksum, and changes as it moves.
      .map(({ key, size, etag }) => ({ key, size, ...(!key.startsWith('evidence/') && { etag }) }))
  );
};
