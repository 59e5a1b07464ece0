import { findConnection } from '../../core/fleet/connections.ts';
import { unmappedWords } from '../../core/fleet/incidents/unmapped.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { invalid } from '../../core/platform/errors.ts';
import type { Handlers } from '../handlers.ts';
import { replaceCredential } from './connect.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from './connected.ts';
import { createLink, listLinks, revokeLink } from './links.ts';
import type { operations } from './operations.ts';
import { connectorOf } from './registry.ts';
import { pullStatus } from './status.ts';

export const handlers: Handlers<typeof operations, 'connect-links'> = {
  createConnectLink: ({ env, caller, body: { name } }) => createLink(env, caller, name),

  listConnectLinks: ({ env, caller }) => listLinks(env, caller),

  revokeConnectLink: ({ env, caller, id }) => revokeLink(env, caller, id),

  getPull: pull,

  pullNow: (asked) => pullAfter(asked, ({ env, caller, id }) => pullNow(env, caller, id)),

  pausePull: (asked) => pullAfter(asked, ({ env, caller, id }) => pausePull(env, caller, id)),

  resumePull: (asked) => pullAfter(asked, ({ env, caller, id }) => resumePull(env, caller, id)),

  async replaceCredential({ body: { credential, baseUrl }, ...asked }) {
    const { env, caller, id } = asked;
    const before = await pull(asked);
    const changed = { id, provider: before.provider, baseUrl: baseUrl ?? before.baseUrl };
    await replaceCredential(env, caller, changed, credential);
    return pull(asked);
  },

  async setWebhookSecret({ body: { secret }, ...asked }) {
    const { provider } = await pull(asked);
    const { name = provider, webhook } = connectorOf(provider) ?? {};
    if (!webhook) throw invalid(`${name} has no webhook that it signs`);
    return pullAfter(asked, ({ env, caller, id }) => setWebhookSecret(env, caller, id, secret));
  },
};

type Asked = { env: Env; caller: Caller; id: string };

/** How a connection is pulled. Without a new version of the API, its `state` cannot be another. */
async function pull({ env, caller, id }: Asked) {
  const [status, connection] = await Promise.all([
    pullStatus(env, caller, id),
    findConnection(env, caller, id),
  ]);
  if (!status || !connection) throw invalid('This connection does not pull from a provider');
  const { state } = status;
  return {
    ...status,
    unmapped: await unmappedWords(env, caller, connection),
    isWithdrawn: state === 'withdrawn',
    state: state === 'withdrawn' ? ('refused' as const) : state,
  };
}

async function pullAfter(asked: Asked, action: (asked: Asked) => Promise<unknown>) {
  await action(asked);
  return pull(asked);
}
