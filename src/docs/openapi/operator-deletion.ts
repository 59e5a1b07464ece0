import {
  accountId,
  connectionId,
  forOperators,
  inPath,
  invalidCursor,
  invalidField,
  listReplyOf,
  notJson,
  query,
  replyOf,
  slice,
  slicedReplyOf,
  unknownAccount,
  unknownConnection,
} from './operator-parts.ts';

const wrongName = { message: 'The name does not match. Nothing has been deleted.' };

/** Who changed what. */
export const audit = forOperators('Audit log', [
  {
    method: 'get',
    path: '/operator/audit',
    id: 'listAudit',
    summary: 'List who created, changed or deleted what',
    description: 'Newest first, in all accounts. Entries are kept for a year.',
    parameters: slice,
    reply: slicedReplyOf('AuditEntry', 'Audit log'),
    refusals: [invalidCursor],
  },
  {
    method: 'get',
    path: '/operator/accounts/{id}/audit',
    id: 'listAccountAudit',
    summary: 'List who created, changed or deleted what in an account',
    description: 'Newest first. Entries are kept for a year.',
    parameters: [accountId, ...slice],
    reply: slicedReplyOf('AuditEntry', 'Audit log'),
    refusals: [invalidCursor],
  },
]);

/** Deleting accounts and connections, and erasing drivers. */
export const deletion = forOperators('Deletion', [
  {
    method: 'post',
    path: '/operator/accounts/{id}/deletion',
    id: 'deleteAccount',
    summary: 'Suspend an account, and delete it in 30 days or at once',
    description: 'Until it begins, activating the account cancels it.',
    parameters: [accountId],
    body: 'AccountDeletion',
    reply: replyOf('DeletionProgress', 'Account suspended'),
    refusals: [unknownAccount, wrongName, invalidField('name', 'is required'), notJson],
  },
  {
    method: 'post',
    path: '/operator/connections/{id}/deletion',
    id: 'deleteConnection',
    summary: 'Delete a connection and its records',
    description:
      'The connection is unknown from this moment on. Its name is that of its provider if it has none.',
    parameters: [connectionId],
    body: 'ConnectionDeletion',
    reply: replyOf('DeletionProgress', 'Connection taken from its account'),
    refusals: [unknownConnection, wrongName, invalidField('name', 'is required'), notJson],
  },
  {
    method: 'post',
    path: '/operator/drivers/{id}/erasure',
    id: 'eraseDriver',
    summary: 'Erase a driver and every reference to them',
    description:
      'Their trips and events remain, without a driver. Records of the driver that come later are ignored.',
    parameters: [inPath('id', "The driver's id.")],
    reply: replyOf('DeletionProgress', 'Driver erased'),
    refusals: [{ message: 'Unknown driver' }],
  },
  {
    method: 'get',
    path: '/operator/deletions',
    id: 'listDeletions',
    summary: 'List what is being deleted, or will be',
    reply: listReplyOf('Deletion', 'Deletions'),
  },
  {
    method: 'post',
    path: '/operator/deletions/{id}/continue',
    id: 'continueDeletion',
    summary: 'Go on with a deletion for some seconds',
    description:
      'The service goes on by itself each minute; this is faster. Null once nothing is left to do.',
    parameters: [inPath('id', 'The id of what is deleted.')],
    reply: replyOf('DeletionProgress', 'Deletion'),
  },
]);

/** Reading what a connection has sent in. */
export const records = forOperators('Export', [
  {
    method: 'get',
    path: '/operator/connections/{id}/records',
    id: 'listRecords',
    summary: "List a connection's records of one kind",
    description: 'The items of the list of that kind, with its parameters, such as `from` and `to`.',
    parameters: [
      connectionId,
      query('kind', 'The kind of the records.', { type: 'string' }, true),
      query('cursor', 'The `next` of the page before; without one, the list begins.', { type: 'string' }),
      query('limit', 'How many to return at most; more than 500 count as 500.', {
        type: 'integer',
        minimum: 1,
        default: 50,
      }),
      query('from', 'Only those from this time on. Needs `to`, where the list has a range.', {
        type: 'string',
      }),
      query('to', 'Only those before this time.', { type: 'string' }),
    ],
    reply: {
      name: 'RecordList',
      message: 'Records',
      data: { type: 'array', items: { type: 'object' } },
      example: [],
      paged: true,
    },
    refusals: [unknownConnection, invalidCursor, invalidField('kind', 'must be the kind of a list')],
  },
]);
