import { derived, type Groups } from '../../cli/operate/derive.ts';
import { findDeliveriesCommand, listDeliveriesCommand } from './commands/follow.ts';
import { replayCommand } from './commands/replay.ts';
import { deliveryRow, stateOf, webhookRow } from './commands/rows.ts';

export const commands: Groups = {
  webhook: {
    about: 'List, limit and pause the webhooks of an account',
    commands: [
      derived('list', 'GET /accounts/:id/webhooks', {
        shown: (one) => {
          const { id, url, maxInFlight, maxPerSecond } = one;
          return { id, url, state: stateOf(one), maxInFlight, maxPerSecond };
        },
      }),
      derived('limit', 'PATCH /webhooks/:id/limits', { shown: webhookRow }),
      derived('pause', 'POST /webhooks/:id/pause', { shown: webhookRow }),
      derived('resume', 'POST /webhooks/:id/resume', { shown: webhookRow }),
    ],
  },
  delivery: {
    about: 'Follow deliveries, send them now, and replay them',
    commands: [
      listDeliveriesCommand,
      findDeliveriesCommand,
      derived('show', 'GET /deliveries/:id', { shown: deliveryRow }),
      derived('send', 'POST /deliveries/:id/send', { shown: deliveryRow }),
      replayCommand,
    ],
  },
};
