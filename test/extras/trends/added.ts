import type { Added } from '#test/support/added.ts';

export const added: Added = {
  contents: () => ({
    event_counts: { hours: 1, start: 480_000, types: '{}', vehicles: '{}', drivers: '{}' },
  }),
};
