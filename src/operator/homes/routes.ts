import { createMiddleware } from 'hono/factory';
import { livesHere, type Owned } from '../../accounts/owner.ts';
import { Refusal } from '../../platform/errors.ts';
import { askHomes } from '../../platform/homes/each.ts';
import { hasHomes, homesOf, nameOf } from '../../platform/homes/homes.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { enterHome } from '../../platform/http/home.ts';
import { locateDelivery } from '../../webhooks/deliveries/queries.ts';

/** What an id in a path below `/operator` identifies, by the list before it: accounts, and what belongs to one. */
export const owned = {
  accounts: 'account',
  channels: 'channel',
  'connect-links': 'link',
  connections: 'connection',
  tokens: 'token',
  drivers: 'driver',
  vehicles: 'vehicle',
  webhooks: 'webhook',
} as const;

export const ownedIn = (path: string): Owned | undefined =>
  new Map<string, Owned>(Object.entries(owned)).get(path.split('/')[1] ?? '');

/**
 * Handles a request in the home of what its id names. The id does not name the home, so all are asked; with a single
 * home none is.
 *
 * @throws Refusal: unavailable, when no home has it and one does not respond
 */
export const enterHomeOfId = createMiddleware<App>(async (c, next) => {
  const isThere = hasHomes(c.env) && look(c);
  if (isThere) {
    // Asked twice: during a move, each home may have been asked while the other had it.
    const home = (await homeWith(c.env, isThere)) ?? (await homeWith(c.env, isThere));
    if (home) enterHome(c, nameOf(home));
  }
  await next();
});

async function homeWith(env: Env, isThere: (home: Env) => Promise<boolean>): Promise<Env | undefined> {
  const asked = await askHomes(env, isThere);
  const found = asked.find(([, there]) => there);
  if (!found && asked.length < homesOf(env).size) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  return found?.[0];
}

/** How to ask a home for what a request names; undefined if it names nothing. */
function look(c: Context): ((home: Env) => Promise<boolean>) | undefined {
  const [, , list = '', id] = c.req.path.split('/');
  const webhookId = c.req.query('webhookId');
  if (list === 'deliveries' && id) return async (home) => (await locateDelivery(home, id)) !== undefined;
  if (list === 'deliveries' && webhookId) return (home) => livesHere(home, 'webhook', webhookId);
  const kind = list === 'deletions' ? 'deletion' : ownedIn(`/${list}`);
  return kind && id ? (home) => livesHere(home, kind, id) : undefined;
}
