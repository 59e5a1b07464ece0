import type { Documented } from '../../docs/openapi/documented.ts';

export const documented: Documented = {
  words: {
    'NewChannel.kind': '`slack`, `teams`, or `https` for JSON.',
    'NewChannel.url': 'Where messages are sent. It is never shown again.',
    'NewChannel.accidentLevels': 'Accidents that reach these levels.',
    'NewChannel.minEventRisk': 'Safety events of at least this risk.',
    'NewChannel.vehicleGroups': 'Only of vehicles in these groups.',
    getsAlerts: 'Whether it is notified of problems with webhooks and connections.',
  },
};
