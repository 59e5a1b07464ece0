import type { Added } from '#test/support/added.ts';
import { deliveriesOf } from '#test/support/deliveries.ts';

const id = '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7';

export const added: Added = {
  bodies: {
    'POST /webhook/:id/replay': () => ({ dryRun: true }),
    'POST /webhook/:id/test': () => ({ type: 2 }),
  },
  requests: {
    'GET /operator/deliveries': { query: `?webhookId=${id}` },
    'GET /operator/deliveries/find': { query: `?eventId=${id}` },
  },
  ofTheService: ['test_calls'],
  async mark({ ids }) {
    const [delivery] = await deliveriesOf(ids.webhooks ?? '');
    return { ':deliveryId': delivery?.id ?? '' };
  },
};
