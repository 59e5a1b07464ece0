import type { Part } from '../../fleet/archive/bucket.ts';
import { dayOf } from '../../fleet/archive/day.ts';
import { repairDay } from '../../fleet/archive/repair.ts';
import {
  type Connection,
  createConnection,
  sliceConnections,
  updateConnection,
} from '../../fleet/connections.ts';
import { setVehicleExternalId } from '../../fleet/external-ids.ts';
import { lists } from '../../fleet/lists/registry.ts';
import { readList } from '../../fleet/service.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import {
  connectProvider,
  pausePull,
  pullNow,
  replaceCredential,
  resumePull,
  setWebhookSecret,
} from '../../providers/connect.ts';
import { createLink, listLinks, revokeLink } from '../../providers/links.ts';
import { pullStatus } from '../../providers/status.ts';
import type { connectionOperations } from '../api/connections.ts';
import type { Handlers } from '../handler.ts';

export const connectionHandlers: Handlers<typeof connectionOperations> = {
  async listAccountConnections({ env, caller, slice }) {
    const { items, ...rest } = await sliceConnections(env, caller, slice);
    return { items: items.map(withTSP), ...rest };
  },

  async createConnection({ env, caller, body: { credential, baseUrl, historyDays, ...plain } }) {
    return withTSP(
      credential === undefined
        ? await createConnection(env, caller, plain)
        : await connectProvider(env, caller, { ...plain, credential, baseUrl, historyDays }),
    );
  },

  createConnectLink: ({ env, caller, body: { name } }) => createLink(env, caller, name),
  listConnectLinks: ({ env, caller }) => listLinks(env, caller),
  revokeConnectLink: ({ env, caller, id }) => revokeLink(env, caller, id),

  async changeConnection({ env, caller, id, body: { tSP, ...changes } }) {
    const all = { ...changes, ...(tSP !== undefined && { tsp: tSP }) };
    return withTSP(await updateConnection(env, caller, id, all));
  },

  changeVehicle: ({ env, caller, id, body }) => setVehicleExternalId(env, caller, id, body.externalId),

  getPull: pull,
  pullNow: (asked) => act(asked, pullNow),
  pausePull: (asked) => act(asked, pausePull),
  resumePull: (asked) => act(asked, resumePull),

  async replaceCredential({ body: { credential, baseUrl }, ...asked }) {
    const { env, caller, id } = asked;
    const before = await pull(asked);
    const changed = { id, provider: before.provider, baseUrl: baseUrl ?? before.baseUrl };
    await replaceCredential(env, caller, changed, credential);
    return pull(asked);
  },

  async setWebhookSecret({ body: { secret }, ...asked }) {
    await setWebhookSecret(asked.env, asked.caller, asked.id, secret);
    return pull(asked);
  },

  async repairArchive({ env, caller: { accountId }, id, body: { kind, date, apply } }) {
    const day = { kind, accountId, connectionId: id, day: dayOf(Date.parse(date)) };
    const { catalog, bucket } = await repairDay(env, day, apply);
    return { catalog: sumOf(catalog), bucket: sumOf(bucket), applied: apply };
  },

  /** A page of one of the connection's lists, as a client with its Connection-Id reads it. */
  async listRecords({ env, caller, id, query: { kind }, queries: { kind: _, ...query } }) {
    const resource = lists.find((one) => one.kind === kind);
    if (!resource) throw invalid('Unknown kind');
    return readList<unknown>(env, caller, resource.list, { connectionId: id, query });
  },
};

const sumOf = (parts: Part[]) => ({
  files: parts.length,
  records: parts.reduce((sum, { rows }) => sum + rows, 0),
});

const withTSP = ({ tsp, ...connection }: Connection) => ({ ...connection, tSP: tsp });

type Asked = { env: Env; caller: Caller; id: string };

/** How a connection is pulled. Without a new version of the API, its `state` cannot be another. */
async function pull({ env, caller, id }: Asked) {
  const status = await pullStatus(env, caller, id);
  if (!status) throw invalid('This connection does not pull from a provider');
  const isWithdrawn = status.state === 'withdrawn';
  return {
    ...status,
    isWithdrawn,
    state: status.state === 'withdrawn' ? ('refused' as const) : status.state,
  };
}

async function act(asked: Asked, action: typeof pullNow) {
  await action(asked.env, asked.caller, asked.id);
  return pull(asked);
}
