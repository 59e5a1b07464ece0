import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { type Api, must, type Wrangler } from '../project/cloudflare.ts';

/** Queries the database for names. `what` describes failures. */
export type Query = (what: string, sql: string) => Promise<string[]>;

const Results = v.array(
  v.object({ results: v.array(v.looseObject({ name: v.optional(v.string()) })) }),
);

export const queryIn =
  (api: Api, databaseId: string): Query =>
  async (what, sql) => {
    const found = await api(what, Results, `/d1/database/${databaseId}/query`, { body: { sql } });
    return found.flatMap(({ results }) => results.flatMap(({ name }) => name ?? []));
  };

const mostTries = 4;

/** How D1 says for a while, after its replicas were switched, that an import takes too long. It may still succeed. */
const isUnstable = /\b(504|7009)\b/;

/** Imports a file of SQL, all or nothing. `isImported` looks in the database whether it has been. @throws Stopped */
export async function importFile(
  what: string,
  wrangler: Wrangler,
  { database, config, file }: { database: string; config: string; file: string },
  isImported: () => Promise<boolean>,
  pauseMs = 15_000,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const output = await wrangler([
      ...['d1', 'execute', database, '--remote', '--config', config],
      ...['--yes', '--file', file],
    ]);
    if (output.ok) return;
    if (!isUnstable.test(output.text) || tries === mostTries) must(what, output);
    await wait(pauseMs);
    if (await isImported()) return;
  }
}
