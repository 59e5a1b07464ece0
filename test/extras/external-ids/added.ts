import type { Added } from '#test/support/added.ts';

const body = () => ({ externalId: 'A' });

export const added: Added = {
  bodies: {
    'PUT /connections/:id': body,
    'PUT /vehicles/:id': body,
    'PATCH /operator/vehicles/:id': body,
  },
};
