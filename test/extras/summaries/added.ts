import type { Added } from '#test/support/added.ts';

export const added: Added = {
  open: ['GET /portal/summary/off', 'POST /portal/summary/off'],
};
