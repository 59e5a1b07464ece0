import {
  accountId,
  connectionId,
  forOperators,
  inPath,
  invalidCursor,
  invalidField,
  listReplyOf,
  noEmail,
  noName,
  noRole,
  notJson,
  replyOf,
  slice,
  slicedReplyOf,
  unknownAccount,
  unknownConnection,
} from './operator-parts.ts';

/** Creating, suspending and listing accounts. */
export const accounts = forOperators('Accounts', [
  {
    method: 'get',
    path: '/operator/accounts',
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Oldest first, at most 1,000 at a time.',
    parameters: slice,
    reply: slicedReplyOf('Account', 'Accounts'),
    refusals: [invalidCursor],
  },
  {
    method: 'post',
    path: '/operator/accounts',
    id: 'createAccount',
    summary: 'Create an account',
    body: 'NewAccount',
    reply: replyOf('Account', 'Account created'),
    refusals: [noName, notJson],
  },
  {
    method: 'patch',
    path: '/operator/accounts/{id}',
    id: 'changeAccount',
    summary: 'Suspend or reactivate an account',
    parameters: [accountId],
    body: 'AccountChange',
    reply: replyOf('Account', 'Account suspended'),
    refusals: [unknownAccount, invalidField('status', 'must be active or suspended'), notJson],
  },
  {
    method: 'get',
    path: '/operator/accounts/{id}/webhooks',
    id: 'listWebhookHealth',
    summary: "List an account's webhooks with the health of their receivers",
    parameters: [accountId],
    reply: listReplyOf('WebhookHealth', 'Webhooks'),
  },
]);

/** Connections, and what can change about them. */
export const connections = forOperators('Connections', [
  {
    method: 'get',
    path: '/operator/accounts/{id}/connections',
    id: 'listAccountConnections',
    summary: "List an account's connections",
    parameters: [accountId, ...slice],
    reply: slicedReplyOf('OperatorConnection', 'Connections'),
    refusals: [invalidCursor],
  },
  {
    method: 'post',
    path: '/operator/accounts/{id}/connections',
    id: 'createConnection',
    summary: 'Add a connection',
    parameters: [accountId],
    body: 'NewConnection',
    reply: replyOf('OperatorConnection', 'Connection created'),
    refusals: [
      unknownAccount,
      invalidField('provider', 'must be letters, digits and hyphens, at most 40'),
      notJson,
    ],
  },
  {
    method: 'patch',
    path: '/operator/connections/{id}',
    id: 'changeConnection',
    summary: 'Change a connection',
    parameters: [connectionId],
    body: 'ConnectionChange',
    reply: replyOf('OperatorConnection', 'Connection changed'),
    refusals: [
      unknownConnection,
      invalidField('healthStatus', 'must be 1 (healthy), 2 (warning), 3 (unavailable) or 4 (degraded)'),
      notJson,
    ],
  },
]);

/** API tokens and ingest keys. */
export const tokens = forOperators('Tokens', [
  {
    method: 'get',
    path: '/operator/accounts/{id}/tokens',
    id: 'listTokens',
    summary: "List an account's API tokens and ingest keys",
    parameters: [accountId, ...slice],
    reply: slicedReplyOf('Token', 'Tokens'),
    refusals: [invalidCursor],
  },
  {
    method: 'post',
    path: '/operator/accounts/{id}/tokens',
    id: 'issueApiToken',
    summary: 'Issue an API token',
    parameters: [accountId],
    body: 'NewToken',
    reply: replyOf('IssuedToken', 'Token issued'),
    refusals: [unknownAccount, noName, notJson],
  },
  {
    method: 'post',
    path: '/operator/connections/{id}/ingest-keys',
    id: 'issueIngestKey',
    summary: 'Issue an ingest key for a connection',
    parameters: [connectionId],
    body: 'NewToken',
    reply: replyOf('IssuedToken', 'Token issued'),
    refusals: [unknownConnection, noName, notJson],
  },
  {
    method: 'delete',
    path: '/operator/tokens/{id}',
    id: 'revokeToken',
    summary: 'Revoke an API token or ingest key immediately',
    parameters: [inPath('id', "The token's id.")],
    reply: replyOf('Token', 'Token revoked'),
    refusals: [{ message: 'Unknown token' }],
  },
]);

/** How the service is doing. */
export const service = forOperators('Service', [
  {
    method: 'get',
    path: '/operator/status',
    id: 'status',
    summary: 'Show how the service is doing, and which webhooks fail',
    description:
      'Counts stop at 10,000, and failed deliveries of a webhook at 100. These values mean that many or more.',
    reply: replyOf('StatusReport', 'Status'),
  },
  {
    method: 'get',
    path: '/operator/homes',
    id: 'listHomes',
    summary: 'List the homes where accounts live, and how full each is',
    description:
      'Counts of accounts stop at 10,000. `eventsPerDay` is the safety events of yesterday, UTC, and `fullOn` the day ' +
      'when the database is full at the rate of the last two weeks. A home that cannot be asked has nulls.',
    reply: listReplyOf('Home', 'Homes'),
  },
]);

/** The people of an account, who sign in to the portal. */
export const people = forOperators('People', [
  {
    method: 'get',
    path: '/operator/accounts/{id}/users',
    id: 'listUsers',
    summary: "List an account's people",
    parameters: [accountId, ...slice],
    reply: slicedReplyOf('PortalUser', 'Users'),
    refusals: [invalidCursor],
  },
  {
    method: 'post',
    path: '/operator/accounts/{id}/users',
    id: 'addUser',
    summary: 'Add a person, who can then sign in',
    description:
      'The first person of an account becomes an admin, whatever `role` says. Somebody who is pending already gets the ' +
      'new role.',
    parameters: [accountId],
    body: 'NewUser',
    reply: replyOf('PortalUser', 'User added'),
    refusals: [unknownAccount, { message: 'This address cannot be added' }, noEmail, noRole, notJson],
  },
  {
    method: 'delete',
    path: '/operator/accounts/{id}/users/{userId}',
    id: 'removeUser',
    summary: 'Remove a person and end their sessions',
    parameters: [accountId, inPath('userId', "The person's id.")],
    reply: replyOf('PortalUser', 'User removed'),
    refusals: [{ message: 'Unknown user' }],
  },
  {
    method: 'post',
    path: '/operator/sign-in-links',
    id: 'makeSignInLink',
    summary: 'Create a link that signs a person in',
    description:
      'The account is needed only for somebody whom several have invited and who has yet to sign in.',
    body: 'SignInLinkInput',
    reply: replyOf('SignInLink', 'Sign-in link'),
    refusals: [{ message: 'Unknown address' }, noEmail, notJson],
  },
]);
