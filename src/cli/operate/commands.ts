import type { InferOutput } from 'valibot';
import type { Token } from '../../operator/api/accounts.ts';
import type { Deletion } from '../../operator/api/deletion.ts';
import { deleteAccountCommand, deleteConnectionCommand, eraseDriverCommand } from './delete.ts';
import { derived, type Groups } from './derive.ts';
import { importCommand } from './import.ts';
import { auditCommand, removeUserCommand } from './people.ts';
import { listCellsCommand, statusCommand } from './status.ts';

const token = ({ id, name, lastUsedAt, ...one }: InferOutput<typeof Token>) => {
  const kind = `${one.readOnly ? 'read only' : 'API token'}${one.connectionIds ? ', limited' : ''}`;
  return {
    id,
    name,
    kind: one.scope === 'ingest' ? 'ingest key' : kind,
    lastUsedAt,
    state: one.revokedAt ? 'revoked' : one.expiresAt ? `until ${one.expiresAt}` : 'active',
  };
};

const deletion = ({ id, account, kind, problem, ...one }: InferOutput<typeof Deletion>) => {
  const state = one.step
    ? `${one.step} (${one.stepsDone + 1} of ${one.steps})`
    : `begins ${one.dueAt}`;
  return { id, account, deletes: kind, state, problem };
};

export const groups: Groups = {
  account: {
    about: 'Manage accounts: the customers of the service',
    commands: [
      derived('create <name>', 'POST /accounts'),
      derived('list', 'GET /accounts', {
        shown: ({ id, name, status, held, createdAt }) => {
          return { id, name, status: held ? 'held' : status, createdAt };
        },
      }),
      derived('rename <name>', 'PATCH /accounts/:id', {
        fixed: {},
        description: 'Rename an account',
      }),
      derived('update', 'PATCH /accounts/:id'),
      derived('suspend', 'PATCH /accounts/:id', {
        fixed: { status: 'suspended' },
        description: 'Suspend an account',
      }),
      derived('activate', 'PATCH /accounts/:id', {
        fixed: { status: 'active' },
        description: 'Activate an account, and cancel its deletion',
      }),
      deleteAccountCommand,
    ],
  },
  cell: { about: 'Show how full the cells are', commands: [listCellsCommand] },
  connection: {
    about: 'Manage connections: the data sources of an account',
    commands: [
      derived('create', 'POST /accounts/:id/connections'),
      derived('list', 'GET /accounts/:id/connections', {
        shown: ({ id, name, tSP, healthStatus, lastPulledAt }) => {
          return { id, name, provider: tSP, healthStatus, lastPulledAt };
        },
      }),
      derived('update', 'PATCH /connections/:id'),
      derived('rename <name>', 'PATCH /connections/:id', {
        fixed: {},
        description: 'Rename a connection',
      }),
      deleteConnectionCommand,
    ],
  },
  token: {
    about: 'Manage API tokens and ingest keys',
    commands: [
      derived('issue', 'POST /accounts/:id/tokens'),
      derived('list', 'GET /accounts/:id/tokens', { shown: token }),
      derived('revoke', 'DELETE /tokens/:id'),
    ],
  },
  'ingest-key': {
    about: 'Issue ingest keys',
    commands: [derived('issue', 'POST /connections/:id/ingest-keys')],
  },
  user: {
    about: 'Manage the users of an account, who sign in to the portal',
    commands: [
      derived('add <email>', 'POST /accounts/:id/users'),
      derived('list', 'GET /accounts/:id/users', {
        shown: ({ email, role, createdAt, lastSignInAt, pending }) => {
          return { email, role, createdAt, lastSignInAt: pending ? 'pending' : lastSignInAt };
        },
      }),
      removeUserCommand,
    ],
  },
  portal: {
    about: "Look at a customer's portal",
    commands: [derived('look', 'POST /accounts/:id/looks')],
  },
  driver: { about: 'Erase the data of a driver', commands: [eraseDriverCommand] },
  deletion: {
    about: 'Show deletions that are scheduled or under way',
    commands: [derived('list', 'GET /deletions', { shown: deletion })],
  },
  '': {
    commands: [
      derived('sign-in-link <email>', 'POST /sign-in-links'),
      auditCommand,
      statusCommand,
      importCommand,
    ],
  },
};
