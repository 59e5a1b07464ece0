import type { Added } from '#test/support/added.ts';

export const added: Added = {
  requests: {
    'GET /operator/why': { query: '?eventId=01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7' },
  },
};
