import { accountId, forOperators, invalidField, notJson, replyOf, unknownAccount } from './operator-parts.ts';

const notMoving = { message: 'The account is not being moved' };

/** Moving accounts from one home to another. */
export const moves = forOperators('Moving', [
  {
    method: 'get',
    path: '/operator/accounts/{id}/move',
    id: 'showMove',
    summary: "Show how an account's move stands",
    description:
      'Null if the account is not being moved. Then `estimate` says for how many seconds a move would refuse its writes at most.',
    parameters: [accountId],
    reply: replyOf('MoveProgress', 'Move'),
  },
  {
    method: 'post',
    path: '/operator/accounts/{id}/move',
    id: 'moveAccount',
    summary: 'Move an account to another home, or go on with that for some seconds',
    description:
      'The service goes on by itself each minute; calling this again and again is faster. Writes get 503 with `Retry-After` until the account lives in its new home; reads go on.',
    parameters: [accountId],
    body: 'NewMove',
    reply: replyOf('MoveProgress', 'Move'),
    refusals: [
      unknownAccount,
      invalidField('to', 'must be the name of a home'),
      invalidField('to', 'must be another home: the account lives in eu already'),
      { message: 'The account is being moved to us2 already. Cancel that first, or wait until it is there.' },
      notJson,
    ],
  },
  {
    method: 'post',
    path: '/operator/accounts/{id}/move/cancel',
    id: 'cancelMove',
    summary: 'Cancel a move, or go on with that for some seconds',
    description: 'What was copied is deleted. After the switch it is too late: move the account back.',
    parameters: [accountId],
    reply: replyOf('MoveProgress', 'Move'),
    refusals: [notMoving, { message: 'The account lives in eu already. To have it back, move it again.' }],
  },
]);
