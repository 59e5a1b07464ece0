import { partHeader } from '#src/core/platform/cells.ts';
import type { Added } from '#test/support/added.ts';
import { addRow } from '#test/support.ts';

const id = '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7';
/** What a router asks for. */
const stage = { id, accountId: id, state: 'cancelling' };
const part = encodeURIComponent(JSON.stringify({ from: 'eu', now: stage, next: stage }));

export const added: Added = {
  bodies: { 'POST /operator/accounts/:id/move': () => ({ to: 'eu' }) },
  requests: { 'PUT /operator/accounts/:id/move': { headers: { [partHeader]: part } } },
  apart: ['POST /operator/accounts/:id/move'], // it needs a router
  underWay: ['moves'],
  leaveWork: ({ accountId }, mark) =>
    addRow('moves', {
      account_id: accountId,
      state: `${mark}-state`,
      move: JSON.stringify({ id: `${mark}-move` }),
    }),
};
