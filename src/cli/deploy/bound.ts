import * as v from 'valibot';
import { must, type Wrangler } from './wrangler.ts';

/** A home that the deployed Worker is bound to: the id of its database, and the jurisdiction of its bucket. */
export type BoundHome = { name: string; database: string; jurisdiction?: string | undefined };

const Deployment = v.object({ versions: v.array(v.object({ version_id: v.string() })) });
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

/**
 * The homes besides main that the Worker is bound to, in any of the versions that serve now. Its bindings are the memory
 * of deploys: whoever deploys, from whichever machine, finds the same. @throws Stopped
 */
export async function boundHomes(wrangler: Wrangler, worker: string): Promise<BoundHome[]> {
  const output = await wrangler(['deployments', 'status', '--name', worker, '--json']);
  if (!output.ok && /\[code: 10007\]|has no deployments/.test(output.text)) return [];
  const { out } = await must('Looking for the homes of the Worker', output);
  const homes = new Map<string, BoundHome>();
  for (const { version_id: id } of v.parse(Deployment, JSON.parse(out)).versions) {
    const args = ['versions', 'view', id, '--name', worker, '--json'];
    const view = await must('Looking for the homes of the Worker', wrangler(args));
    const { bindings } = v.parse(Version, JSON.parse(view.out)).resources;
    for (const { type, name, id, database_id: database = id } of bindings) {
      const home = type === 'd1' && /^DB_([A-Z0-9]+)$/.exec(name)?.[1];
      if (!home || !database) continue;
      const bucket = bindings.find((one) => one.name === `ARCHIVE_${home}`);
      homes.set(home, { name: home.toLowerCase(), database, jurisdiction: bucket?.jurisdiction });
    }
  }
  return [...homes.values()];
}
