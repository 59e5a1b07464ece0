import { drivers as table } from '../../platform/db/schema/fleet.ts';
import { derivable, optional, orElse } from './field.ts';
import { code, email, identifier, text } from './field-types.ts';
import { equals } from './filters.ts';
import { resource } from './resource.ts';
import { searchKeys } from './search-keys.ts';

export const drivers = resource({
  kind: 'driver',
  table,
  description: 'A driver, as the provider knows them.',
  sourceId: 'd-12',
  fields: {
    name: derivable(text(200, 'Their name.', 'Robin Reyes'), 'Defaults to the sourceId.'),
    email: optional(email('Their email address.', 'robin@example.com')),
    phone: optional(identifier(50, 'Their telephone number.', '+1 303 555 0100')),
    licenseState: optional(text(50, 'The state or country that issued their licence.', 'CO')),
    licenseNumber: optional(identifier(50, 'The number of their licence.', '99-123-4567')),
    status: orElse(code({ active: 1, inactive: 0 }, '1 active, 0 inactive.', 1), 1),
  },
  searchKeys: ({ name }) => searchKeys(name),
  derive: ({ name, sourceId }) => ({ name: name ?? sourceId }),
  list: {
    path: '/drivers',
    order: 'createdAt',
    connection: 'optional',
    filters: {
      status: equals('status', 'Only drivers with this status.'),
      licenseState: equals('licenseState', 'Only drivers whose licence this state issued.'),
    },
  },
});
