import { changeAccount, createAccount } from '../../accounts/accounts.ts';
import { listAudit } from '../../accounts/audit/list.ts';
import { addPortalUser, listPortalUsers, type PortalUser, removePortalUser } from '../../accounts/people.ts';
import { createSignInLinks, signInUrl } from '../../accounts/sessions.ts';
import { issueToken, listTokens, revokeToken } from '../../accounts/tokens/service.ts';
import { invalid } from '../../platform/errors.ts';
import { homesOf, mainHome } from '../../platform/homes/homes.ts';
import type { accountOperations, auditOperations, tokenOperations, userOperations } from '../api/accounts.ts';
import { activateAccount } from '../deletion/accept.ts';
import type { Handlers } from '../handler.ts';
import { listAllAccounts, listEverybodysAudit } from '../homes/lists.ts';

export const accountHandlers: Handlers<
  typeof accountOperations & typeof tokenOperations & typeof userOperations & typeof auditOperations
> = {
  listAccounts: ({ env, slice }) => listAllAccounts(env, slice),

  async createAccount({ env, body: { name, home = mainHome } }) {
    const there = homesOf(env).get(home);
    if (there) return createAccount(there, name);
    const must = `must be one of ${[...homesOf(env).keys()].join(', ')}`;
    throw invalid(`home ${must}`, [{ field: 'home', message: must }]);
  },

  changeAccount: ({ env, id, body }) =>
    body.status === 'active' ? activateAccount(env, id, body.name) : changeAccount(env, id, body),

  listTokens: ({ env, caller, slice }) => listTokens(env, caller, slice),
  issueApiToken: ({ env, caller, body }) => issueToken(env, caller, body),
  issueIngestKey: ({ env, caller, id, body }) => issueToken(env, caller, { connectionId: id, ...body }),
  revokeToken: ({ env, caller, id }) => revokeToken(env, caller, id),

  async listUsers({ env, caller, slice }) {
    const { items, ...rest } = await listPortalUsers(env, caller, slice);
    return { items: items.map(withPending), ...rest };
  },
  addUser: async ({ env, caller, body: { email, role } }) =>
    withPending(await addPortalUser(env, caller, email, role)),
  removeUser: async ({ env, caller, userId }) => withPending(await removePortalUser(env, caller, userId)),

  async makeSignInLink({ env, body: { email, accountId } }) {
    const [link, ...others] = await createSignInLinks(env, email, accountId);
    if (!link) throw invalid('Unknown address');
    if (others.length > 0)
      throw invalid('Several accounts have invited this address', [
        { field: 'accountId', message: 'must name one of them' },
      ]);
    return { url: signInUrl(env, link) };
  },

  listAudit: ({ env, slice }) => listEverybodysAudit(env, slice),
  listAccountAudit: ({ env, caller, slice }) => listAudit(env, caller, slice),
};

const withPending = (user: PortalUser) => ({ ...user, pending: user.confirmedAt === null });
