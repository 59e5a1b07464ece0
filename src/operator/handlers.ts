import {
  changeAccount,
  createAccount,
  listAccounts,
  operatorIn,
} from '../core/accounts/accounts.ts';
import { listAllAudit, listAudit } from '../core/accounts/audit/list.ts';
import { issueToken, listTokens, revokeToken } from '../core/accounts/tokens/service.ts';
import { type Connection, sliceConnections, updateConnection } from '../core/fleet/connections.ts';
import { config } from '../core/platform/config.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { invalid } from '../core/platform/errors.ts';
import { timestamp } from '../core/platform/fields.ts';
import { createConnection, uncovered } from '../core/webhooks/coverage.ts';
import { setPaused, setReceiverLimits } from '../core/webhooks/service.ts';
import { parseChannel } from '../extras/alerts/channel-input.ts';
import {
  findChannel,
  listChannels,
  removeChannel,
  saveChannel,
  testChannel,
} from '../extras/alerts/channels.ts';
import { ruleOfFirst } from '../extras/alerts/rules.ts';
import { dayOf, type Part } from '../extras/archive/bucket.ts';
import { repairDay } from '../extras/archive/remove.ts';
import { findDelivery, listDeliveries, locateDelivery } from '../extras/delivery-log/find.ts';
import { listReceivers } from '../extras/delivery-log/receivers.ts';
import { countReplayable, replay, replayOne, sendNow } from '../extras/delivery-log/replay.ts';
import { keepEvidence } from '../extras/evidence/evidence.ts';
import { listExports, operators, requestExport } from '../extras/exports/exports.ts';
import { setVehicleExternalId } from '../extras/external-ids/external-ids.ts';
import { filtersOf } from '../extras/filters/option.ts';
import {
  connectProvider,
  pausePull,
  pullNow,
  replaceCredential,
  resumePull,
  setWebhookSecret,
} from '../extras/providers/connect.ts';
import { createLink, listLinks, revokeLink } from '../extras/providers/links.ts';
import { pullStatus } from '../extras/providers/status.ts';
import { turnOffSingleSignOn, unlessOnlyByLink } from '../extras/single-sign-on/single-sign-on.ts';
import {
  addPortalUser,
  listPortalUsers,
  type PortalUser,
  removePortalUser,
} from '../people/people.ts';
import { createSignInLinks, signInUrl } from '../people/sessions.ts';
import type { operations } from './api/operations.ts';
import {
  activateAccount,
  deleteAccount,
  deleteConnection,
  eraseDriver,
  suspendAccount,
} from './deletion/accept.ts';
import { continueDeletion, type Deletion, listDeletions, stepNames } from './deletion/run.ts';
import { explain } from './explain.ts';
import { findDeliveries } from './find-deliveries.ts';
import { findInFleet } from './find-in-fleet.ts';
import type { Handlers } from './handler-types.ts';
import { checkService } from './health/check.ts';
import { look } from './look.ts';
import { continueMove, showMove } from './moves/leave.ts';
import { operatorInOwnerOf } from './owner-of.ts';
import { showCell, status } from './status.ts';

export const handlers: Handlers<typeof operations> = {
  listAccounts: ({ env, slice }) => listAccounts(env, slice),

  createAccount: ({ env, body: { name } }) => createAccount(env, name),

  async changeAccount({ env, id, caller, body: { name, status, evidenceDays, ...limits } }) {
    const { recordsPerDay, bytesPerDay, deliveriesPerDay, requestsPerMinute } = limits;
    if (evidenceDays !== undefined) await keepEvidence(env, caller, evidenceDays);
    const perDay = { records: recordsPerDay, bytes: bytesPerDay, deliveries: deliveriesPerDay };
    const quotas = { ...perDay, requestsPerMinute };
    const asked = { name, status, quotas };
    if (status === 'suspended') return suspendAccount(env, id, asked);
    return (status === 'active' ? activateAccount : changeAccount)(env, id, asked);
  },

  exportAccount: ({ env, caller, body: { lists, format, from, to } }) =>
    requestExport(env, caller, operators, {
      lists,
      formats: [format],
      ...(from !== undefined && { from: timestamp(from) }),
      ...(to !== undefined && { to: timestamp(to) }),
    }),
  listExports: ({ env, caller }) => listExports(env, caller),

  listTokens: ({ env, caller, slice }) => listTokens(env, caller, slice),
  issueApiToken: ({ env, caller, body }) => issueToken(env, caller, body),
  issueIngestKey: ({ env, caller, id, body }) =>
    issueToken(env, caller, { connectionId: id, ...body }),
  revokeToken: ({ env, caller, id }) => revokeToken(env, caller, id),

  async listUsers({ env, caller, slice }) {
    const { items, ...rest } = await listPortalUsers(env, caller, slice);
    return { items: items.map(withPending), ...rest };
  },
  addUser: async ({ env, caller, body: { email, role } }) =>
    withPending(await addPortalUser(env, caller, email, role, (db) => ruleOfFirst(db, caller))),
  removeUser: async ({ env, caller, userId }) =>
    withPending(await removePortalUser(env, caller, userId, unlessOnlyByLink)),

  turnOffSingleSignOn: ({ env, caller }) => turnOffSingleSignOn(env, caller),

  async makeSignInLink({ env, body: { email, accountId } }) {
    const [link, ...others] = await createSignInLinks(env, email, accountId);
    if (!link) throw invalid('Unknown address');
    if (others.length > 0)
      throw invalid('Several accounts have invited this address', [
        { field: 'accountId', message: 'must name one of them' },
      ]);
    return { url: signInUrl(env, link) };
  },

  look: ({ env, caller, body: { reason } }) => look(env, caller, reason),

  listAudit: ({ env, slice }) => listAllAudit(env, slice),
  listAccountAudit: ({ env, caller, slice }) => listAudit(env, caller, slice),

  async listAccountConnections({ env, caller, slice }) {
    const { items, ...rest } = await sliceConnections(env, caller, slice);
    return { items: items.map(withTSP), ...rest };
  },

  async createConnection({ env, caller, body: { credential, baseUrl, historyDays, ...plain } }) {
    const connection =
      credential === undefined
        ? await createConnection(env, caller, plain)
        : await connectProvider(env, caller, { ...plain, credential, baseUrl, historyDays });
    return { ...withTSP(connection), warning: connection.isCovered ? null : uncovered };
  },

  createConnectLink: ({ env, caller, body: { name } }) => createLink(env, caller, name),
  listConnectLinks: ({ env, caller }) => listLinks(env, caller),
  revokeConnectLink: ({ env, caller, id }) => revokeLink(env, caller, id),

  async changeConnection({ env, caller, id, body: { tSP, ...changes } }) {
    const all = { ...changes, ...(tSP !== undefined && { tsp: tSP }) };
    return withTSP(await updateConnection(env, caller, id, all));
  },

  changeVehicle: ({ env, caller, id, body }) =>
    setVehicleExternalId(env, caller, id, body.externalId),

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

  setWebhookSecret: ({ body: { secret }, ...asked }) =>
    pullAfter(asked, ({ env, caller, id }) => setWebhookSecret(env, caller, id, secret)),

  async repairArchive({ env, caller: { accountId }, id, body: { kind, date, apply } }) {
    const day = { kind, accountId, connectionId: id, day: dayOf(Date.parse(date)) };
    const { catalog, bucket } = await repairDay(env, day, apply);
    return { catalog: sumOf(catalog), bucket: sumOf(bucket), applied: apply };
  },

  listWebhookHealth: async ({ env, caller }) => (await listReceivers(env, caller)).map(withFilters),

  limitReceiver: ({ body, ...asked }) =>
    receiverAfter(asked, ({ env, caller, id }) => setReceiverLimits(env, caller, id, body)),
  pauseWebhook: (asked) =>
    receiverAfter(asked, ({ env, caller, id }) => setPaused(env, caller, id, true)),
  resumeWebhook: (asked) =>
    receiverAfter(asked, ({ env, caller, id }) => setPaused(env, caller, id, false)),

  async listDeliveries({ env, query: { webhookId, status, since, before, limit } }) {
    const caller = await operatorInOwnerOf(env, 'webhook', webhookId);
    const position = before === undefined ? undefined : [webhookId, before];
    return listDeliveries(env, caller, {
      webhookId,
      state: status,
      from: since,
      place: position,
      limit,
    });
  },

  async findDeliveries({ env, query: { eventId, vin, vehicleId } }) {
    if (eventId) return findDeliveries(env, { eventId });
    if (vehicleId) return findDeliveries(env, { vehicleId });
    if (vin) return findDeliveries(env, { vin });
    throw invalid('Give an eventId, a vin or a vehicleId');
  },

  async findInFleet({ env, query: { vehicle, driver, accountId } }) {
    if (vehicle) return findInFleet(env, { kind: 'vehicle', text: vehicle, accountId });
    if (driver) return findInFleet(env, { kind: 'driver', text: driver, accountId });
    throw invalid('Give a vehicle or a driver');
  },

  async explain({ env, query: { eventId, vehicleId, driverId, ...range } }) {
    if (eventId) return explain(env, { eventId });
    if (vehicleId) return explain(env, { vehicleId, ...range });
    if (driverId) return explain(env, { driverId, ...range });
    throw invalid('Give an eventId, a vehicleId or a driverId');
  },

  getDelivery: withDelivery(showDelivery),
  replayDelivery: withDelivery(replayOne),
  sendDelivery: withDelivery(async (...delivery) => {
    await sendNow(...delivery);
    return showDelivery(...delivery);
  }),

  countReplay: ({ env, caller, id, query }) => countReplayable(env, caller, id, query),
  replayWebhook: ({ env, caller, id, body }) => replay(env, caller, id, body),

  listChannels: ({ env, caller }) => listChannels(env, caller),

  async addChannel({
    env,
    caller,
    body: { accidentLevels, minEventRisk, vehicleGroups, ...given },
  }) {
    const { origin, allowLoopbackReceivers: allowLoopback } = config(env);
    const ownHost = origin ? new URL(origin).hostname : '';
    const input = parseChannel(given, { isNew: true, ownHost, allowLoopback });
    const rule = {
      levels: accidentLevels ?? [],
      risk: minEventRisk ?? null,
      groups: vehicleGroups ?? null,
    };
    return findChannel(env, caller, await saveChannel(env, caller, input, rule));
  },

  async testChannel({ env, caller, id }) {
    await testChannel(env, caller, id);
    return findChannel(env, caller, id);
  },

  async removeChannel({ env, caller, id }) {
    const channel = await findChannel(env, caller, id);
    if (channel) await removeChannel(env, caller, id);
    return channel;
  },

  deleteAccount: async ({ env, id, body }) => progress(await deleteAccount(env, id, body)),
  deleteConnection: async ({ env, caller, id, body }) =>
    progress(await deleteConnection(env, caller, id, body.name)),
  eraseDriver: async ({ env, caller, id }) => progress(await eraseDriver(env, caller, id)),
  listDeletions: async ({ env }) => (await listDeletions(env)).map(withSteps),
  continueDeletion: async ({ env, id }) => progress(await continueDeletion(env, id)),

  showMove: ({ env, id }) => showMove(env, id),
  moveAccount: ({ env, id, body }) => continueMove(env, id, body),

  status: ({ env }) => status(env),
  showCell: ({ env }) => showCell(env),
  checkService: ({ env, body }) => checkService(env, body),
};

const withPending = (user: PortalUser) => ({ ...user, pending: user.confirmedAt === null });

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
  const { state } = status;
  return {
    ...status,
    isWithdrawn: state === 'withdrawn',
    state: state === 'withdrawn' ? ('refused' as const) : state,
  };
}

async function pullAfter(asked: Asked, action: (asked: Asked) => Promise<unknown>) {
  await action(asked);
  return pull(asked);
}

async function receiverAfter(asked: Asked, action: (asked: Asked) => Promise<unknown>) {
  await action(asked);
  const [receiver] = await listReceivers(asked.env, asked.caller, asked.id);
  return receiver && withFilters(receiver);
}

const withFilters = ({
  options: { filters },
  ...receiver
}: Awaited<ReturnType<typeof listReceivers>>[number]) => ({ ...receiver, ...filtersOf(filters) });

type Located = NonNullable<Awaited<ReturnType<typeof locateDelivery>>>;

/** Does something with a delivery, of which operators need to know nothing but the id. */
function withDelivery<T>(work: (env: Env, caller: Caller, delivery: Located) => Promise<T>) {
  return async ({ env, id }: { env: Env; id: string }) => {
    const located = await locateDelivery(env, id);
    return located && work(env, operatorIn(located.accountId), located);
  };
}

async function showDelivery(...delivery: Parameters<typeof findDelivery>) {
  const found = await findDelivery(...delivery);
  return found && { ...found, url: found.webhook?.url ?? null };
}

const progress = (deletion: Deletion | undefined) => ({
  deletion: deletion ? withSteps(deletion) : null,
});

const withSteps = (deletion: Deletion) => {
  const steps = stepNames(deletion.kind);
  const stepsDone = Math.max(0, steps.indexOf(deletion.step ?? ''));
  const kind = deletion.kind === 'copy' ? ('account' as const) : deletion.kind;
  return { ...deletion, kind, stepsDone, steps: steps.length };
};
