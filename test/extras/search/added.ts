import type { Added } from '#test/support/added.ts';

export const added: Added = {
  requests: { 'GET /operator/fleet/find': { query: '?vehicle=van' } },
};
