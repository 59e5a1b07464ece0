import * as v from 'valibot';
import { subjectOf } from '../../operator/api/schema.ts';
import { mainHome } from '../../platform/homes/names.ts';
import type { AccountContents } from './account.ts';
import type { NamedDatabase, Query } from './api.ts';
import { type Api, granted } from './api.ts';
import { placeBeside } from './place.ts';
import type { HomeToDeploy, Plan } from './plan.ts';
import { expectedSchema } from './schema.ts';
import { Stopped } from './wrangler.ts';

/**
 * The homes to deploy, main first: those that the Worker is bound to, and the requested one. Changes nothing.
 *
 * @throws Stopped, when the request contradicts what exists
 */
export async function homesToDeploy(
  api: Api,
  query: Query,
  plan: Plan,
  found: AccountContents,
): Promise<[HomeToDeploy, ...HomeToDeploy[]]> {
  if (plan.home && !found.database)
    throw new Stopped('Deploy without --home first: that creates the home main. Then add homes beside it.');
  const withQueues = async (home: Omit<HomeToDeploy, 'missingQueues'>): Promise<HomeToDeploy> => {
    const there = await Promise.all(home.queues.map((queue) => hasQueue(api, queue)));
    return { ...home, missingQueues: home.queues.filter((_, at) => !there[at]) };
  };
  const place = placeBeside(found.database, plan.database, plan.place);
  const main = { name: mainHome, ...plan.partsOf(mainHome), found: found.database, place };
  const further = [...boundBefore(plan, found), ...(await added(query, plan, found))];
  const [first, ...others] = await Promise.all([withQueues(main), ...further.map(withQueues)]);
  return [first, ...others];
}

/** The homes that the Worker is bound to already. */
const boundBefore = (plan: Plan, { databases, homes }: AccountContents) =>
  homes.map(({ name, database: id, jurisdiction }) => {
    const there = databases.find((one) => one.id === id);
    if (!there)
      throw new Stopped(
        `The database of the home ${name} is gone, with the accounts that lived there. ` +
          `If that was intended, remove the binding DB_${name.toUpperCase()} from the Worker in the dashboard, and run it again.`,
      );
    const known = there.jurisdiction === undefined ? { ...there, jurisdiction } : there;
    const asked = plan.home?.name === name ? plan.home.place : {};
    const place = placeBeside(known, there.name, asked);
    return { name, ...plan.partsOf(name), database: there.name, found: known, place };
  });

/** The requested home, if the Worker is not bound to it yet; an interrupted deploy may have created some of it. */
async function added(query: Query, { home, partsOf }: Plan, { databases, homes }: AccountContents) {
  if (!home || homes.some(({ name }) => name === home.name)) return [];
  const parts = partsOf(home.name);
  const there = databases.find((one) => one.name === parts.database);
  if (there) await mustBeOurs(query, there);
  const place = placeBeside(there, parts.database, home.place);
  return [{ name: home.name, ...parts, found: there, place }];
}

const Queues = v.array(v.object({ queue_name: v.string() }));

async function hasQueue(api: Api, name: string): Promise<boolean> {
  const queues = await granted(`Looking for the queue ${name}`, Queues, api(`/queues?page=1&name=${name}`));
  return queues.some(({ queue_name }) => queue_name === name);
}

/** Makes sure that an unbound database has no other tables than ours. @throws Stopped, when it has */
async function mustBeOurs(query: Query, database: NamedDatabase): Promise<void> {
  const { name } = database;
  const tables = await query(
    `Checking the database ${name}`,
    database,
    `select name from sqlite_master where type = 'table' and name <> 'd1_migrations'
      and name not glob '_cf_*' and name not glob 'sqlite_*'`,
  );
  const ours = expectedSchema().map(subjectOf);
  const others = tables.filter((table) => !ours.includes(`table ${table}`)).slice(0, 5);
  if (others.length > 0)
    throw new Stopped(
      `The database ${name} already exists for something else: it has tables such as ${others.join(', ')}. ` +
        `Choose another name for the home, or delete the database if nobody needs it: npx wrangler d1 delete ${name}`,
    );
}
