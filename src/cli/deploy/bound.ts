import * as v from 'valibot';
import { type Api, granted } from './api.ts';

/** A home that the deployed Worker is bound to: the id of its database, and the jurisdiction of its bucket. */
export type BoundHome = { name: string; database: string; jurisdiction?: string | undefined };

const Deployments = v.object({
  deployments: v.array(v.object({ versions: v.array(v.object({ version_id: v.string() })) })),
});
const Version = v.object({
  resources: v.object({
    bindings: v.array(
      v.looseObject({
        type: v.string(),
        name: v.string(),
        id: v.optional(v.string()),
        database_id: v.optional(v.string()),
        jurisdiction: v.optional(v.string()),
      }),
    ),
  }),
});

/** Cloudflare's code for a Worker that is not there. */
export const noWorker = 10_007;

/**
 * The homes besides main that the Worker is bound to, in any of the versions that serve now. Its bindings are the memory
 * of deploys: whoever deploys, from whichever machine, finds the same. @throws Stopped
 */
export async function boundHomes(api: Api, worker: string): Promise<BoundHome[]> {
  const what = 'Looking for the homes of the Worker';
  const path = `/workers/scripts/${worker}`;
  const answer = await api(`${path}/deployments`);
  if (answer.codes.includes(noWorker)) return [];
  const { deployments } = await granted(what, Deployments, answer);
  const homes = new Map<string, BoundHome>();
  for (const { version_id: id } of deployments[0]?.versions ?? []) {
    const { bindings } = (await granted(what, Version, api(`${path}/versions/${id}`))).resources;
    for (const { type, name, id, database_id: database = id } of bindings) {
      const home = type === 'd1' && /^DB_([A-Z0-9]+)$/.exec(name)?.[1];
      if (!home || !database) continue;
      const bucket = bindings.find((one) => one.name === `ARCHIVE_${home}`);
      homes.set(home, { name: home.toLowerCase(), database, jurisdiction: bucket?.jurisdiction });
    }
  }
  return [...homes.values()];
}
