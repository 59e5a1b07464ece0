import type * as v from 'valibot';
import {
  type Account,
  changeAccount,
  createAccount,
  listAccounts,
} from '../core/accounts/accounts.ts';
import { listAllAudit, listAudit } from '../core/accounts/audit/list.ts';
import { issueToken, listTokens, revokeToken } from '../core/accounts/tokens/service.ts';
import { type Connection, sliceConnections, updateConnection } from '../core/fleet/connections.ts';
import { invalid } from '../core/platform/errors.ts';
import { createConnection } from '../core/webhooks/add-connection.ts';
import type { Handlers } from '../extras/handlers.ts';
import { declared } from '../extras.ts';
import {
  addPortalUser,
  listPortalUsers,
  type PortalUser,
  removePortalUser,
} from '../people/people.ts';
import { createSignInLinks, signInUrl } from '../people/sessions.ts';
import type { Account as AccountReply } from './api/accounts.ts';
import type { ofCore } from './api/operations.ts';
import {
  activateAccount,
  deleteAccount,
  deleteConnection,
  eraseDriver,
  suspendAccount,
} from './deletion/accept.ts';
import { type Deletion, listDeletions } from './deletion/list.ts';
import { continueDeletion, stepNames } from './deletion/run.ts';
import { checkService } from './health/check.ts';
import { look } from './look.ts';
import { showCell, status } from './status.ts';

export const handlers: Handlers<typeof ofCore> = {
  async listAccounts({ env, slice }) {
    const { items, ...rest } = await listAccounts(env, slice);
    return { items: await withFields(env, items), ...rest };
  },

  async createAccount({ env, body: { name } }) {
    return withUsual(await createAccount(env, name));
  },

  async changeAccount({ env, id, caller, body }) {
    const { name, status, recordsPerDay, bytesPerDay, deliveriesPerDay } = body;
    for (const change of declared('changeAccount')) await change(env, caller, body);
    const perDay = { records: recordsPerDay, bytes: bytesPerDay, deliveries: deliveriesPerDay };
    const quotas = { ...perDay, requestsPerMinute: body.requestsPerMinute };
    const asked = { name, status, quotas };
    const changing = {
      active: activateAccount,
      suspended: suspendAccount,
      unchanged: changeAccount,
    };
    const account = await changing[status ?? 'unchanged'](env, id, asked);
    return (await withFields(env, [account]))[0];
  },

  listTokens: ({ env, caller, slice }) => listTokens(env, caller, slice),
  issueApiToken: ({ env, caller, body }) => issueToken(env, caller, body),
  issueIngestKey: ({ env, caller, id, body }) =>
    issueToken(env, caller, { connectionId: id, ...body }),
  revokeToken: ({ env, caller, id }) => revokeToken(env, caller, id),

  async listUsers({ env, caller, slice }) {
    const { items, ...rest } = await listPortalUsers(env, caller, slice);
    return { items: items.map(withPending), ...rest };
  },
  async addUser({ env, caller, body: { email, role } }) {
    const added = declared('people').map((one) => one.added);
    return withPending(
      await addPortalUser(env, caller, email, role, (db) => added.map((add) => add?.(db, caller))),
    );
  },
  async removeUser({ env, caller, userId }) {
    const changed = declared('people').map((one) => one.changed);
    return withPending(
      await removePortalUser(env, caller, userId, (...person) =>
        changed.map((change) => change?.(...person)),
      ),
    );
  },

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

  async createConnection({ env, caller, body }) {
    for (const connect of declared('connect')) {
      const connection = await connect(env, caller, body);
      if (connection) return withTSP(connection);
    }
    return { ...withTSP(await createConnection(env, caller, body)), warning: null };
  },

  async changeConnection({ env, caller, id, body: { tSP, ...changes } }) {
    const all = { ...changes, ...(tSP !== undefined && { tsp: tSP }) };
    return withTSP(await updateConnection(env, caller, id, all));
  },

  deleteAccount: async ({ env, id, body }) => progress(await deleteAccount(env, id, body)),
  deleteConnection: async ({ env, caller, id, body }) =>
    progress(await deleteConnection(env, caller, id, body.name)),
  eraseDriver: async ({ env, caller, id }) => progress(await eraseDriver(env, caller, id)),
  listDeletions: async ({ env }) => (await listDeletions(env)).map(withSteps),
  continueDeletion: async ({ env, id }) => progress(await continueDeletion(env, id)),

  status: ({ env }) => status(env),
  showCell: ({ env }) => showCell(env),
  checkService: ({ env, body }) => checkService(env, body),
};

type SeenAccount = v.InferInput<typeof AccountReply>;

/** Accounts as operators see them: with fields of extras, which are in the reply's schema as well. */
async function withFields(env: Env, accounts: Account[]): Promise<SeenAccount[]> {
  const ids = accounts.map(({ id }) => id);
  const all = await Promise.all(declared('accountFields').map(({ find }) => find(env, ids)));
  return accounts.map((account) =>
    Object.assign(withUsual(account), ...all.map((found) => found.get(account.id))),
  );
}

const withUsual = (account: Account): SeenAccount =>
  Object.assign({}, account, ...declared('accountFields').map(({ usual }) => usual));

const withPending = (user: PortalUser) => ({ ...user, pending: user.confirmedAt === null });

const withTSP = <C extends Connection>({ tsp, ...connection }: C) => ({ ...connection, tSP: tsp });

const progress = (deletion: Deletion | undefined) => ({
  deletion: deletion ? withSteps(deletion) : null,
});

const withSteps = (deletion: Deletion) => {
  const steps = stepNames(deletion.kind);
  const stepsDone = Math.max(0, steps.indexOf(deletion.step ?? ''));
  const kind = deletion.kind === 'copy' ? ('account' as const) : deletion.kind;
  return { ...deletion, kind, stepsDone, steps: steps.length };
};
