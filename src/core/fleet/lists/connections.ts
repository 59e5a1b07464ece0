import { connections as table } from '../../platform/db/schema/accounts.ts';
import { optional } from './field.ts';
import { code, text, time, uuid } from './field-types.ts';
import { byExternalId, exampleConnectionId, externalId, listed, stamps } from './resource.ts';

/** The account's data sources, which operators and people create. */
export const connections = listed(
  'connection',
  'A data source of the account: one feed of one telematics provider.',
  {
    id: uuid('Its identifier.', exampleConnectionId),
    name: optional(text(200, 'Its name.', 'Long haul')),
    provider: text(40, "The provider's short name, in lower case.", 'motive'),
    tSP: text(200, "The provider's name. The key is spelled exactly like this.", 'Motive'),
    healthStatus: code(
      { healthy: 1, warning: 2, unavailable: 3, degraded: 4 },
      '1 healthy, 2 warning, 3 unavailable, 4 degraded.',
      1,
    ),
    lastPulledAt: optional(
      time(
        'When records were last pulled from the provider, to some five minutes; null if the connection does not pull.',
        '2026-11-20T20:00:00.000Z',
      ),
    ),
    externalId,
    ...stamps,
  },
  table,
  { path: '/connections', order: 'createdAt', connection: 'optional', filters: byExternalId },
);
