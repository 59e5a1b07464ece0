import * as v from 'valibot';
import { type Api, granted } from './api.ts';

/** A database that exists; the jurisdiction is undefined where Cloudflare does not say. */
export type Database = { id: string; jurisdiction: string | null | undefined };
export type NamedDatabase = Database & { name: string };

/** Asks deployed databases. */
export type Query = (
  what: string,
  database: NamedDatabase,
  sql: string,
) => Promise<{ names: string[]; region: string | undefined }>;

const Results = v.pipe(
  v.array(
    v.object({
      results: v.array(v.looseObject({ name: v.optional(v.string()) })),
      meta: v.looseObject({ served_by_region: v.optional(v.string()) }),
    }),
  ),
  v.minLength(1),
);

/** Returns what asks a database for names, and which region answers. `what` says what a failure is of. */
export const queryIn =
  (api: Api): Query =>
  async (what, { id }, sql) => {
    const asked = api(`/d1/database/${id}/query`, { method: 'POST', body: { sql } });
    const [{ results, meta } = { results: [], meta: {} }] = await granted(what, Results, asked);
    return {
      names: results.flatMap((row) => row.name ?? []),
      region: meta.served_by_region?.toLowerCase(),
    };
  };
