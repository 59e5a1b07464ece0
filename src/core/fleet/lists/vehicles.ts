import * as v from 'valibot';
import { vehicles as table } from '../../platform/db/schema/fleet.ts';
import { AtMost, isPrintable, mustBePrintable } from '../../platform/fields.ts';
import { cutText } from './clean.ts';
import { derivable, internal, optional, orElse } from './field.ts';
import { vehicleLocation } from './field-objects.ts';
import { choice, identifier, integer, number, shortText, text, texts, vin } from './field-types.ts';
import { equals, indexed } from './filters.ts';
import { storedGroupKeys } from './group-keys.ts';
import { byExternalId, externalId, resource } from './resource.ts';
import { searchKeys } from './search-keys.ts';

// Each event copies its vehicle's name, VIN and groups, and so does its notification: even at their longest, a small
// event fits into one row of each without a page of its own.
export const maxNameBytes = 200;
export const groupLimits = { max: 20, length: 100, bytes: 300 };

/** A group, as people choose it. */
export const Group = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  AtMost(groupLimits.length),
  v.check(isPrintable, mustBePrintable),
);

const ownVin = vin(
  'Its vehicle identification number; null for what cannot be one, such as `UNKNOWN`.',
);
const nameFrom = (sourceId: string) => String(cutText(maxNameBytes, maxNameBytes + 2)(sourceId));

export const vehicles = resource({
  kind: 'vehicle',
  table,
  description: 'A vehicle of the fleet.',
  sourceId: 't7',
  fields: {
    name: derivable(shortText(maxNameBytes, 'Its name.', 'Truck 7'), 'Defaults to the sourceId.'),
    vin: optional({
      ...ownVin,
      input: v.pipe(
        ownVin.input,
        v.transform((text) => text || null),
      ),
    }),
    groups: orElse(texts(groupLimits, 'The groups it belongs to.', ['North']), []),
    status: orElse(choice(['active', 'inactive'], 'Whether it is in use.', 'active'), 'active'),
    make: optional(text(100, 'Its make.', 'Freightliner')),
    model: optional(text(100, 'Its model.', 'Cascadia')),
    year: optional(integer(1900, 2100, 'Its model year.', 2024)),
    fuelType: optional(text(50, 'What it runs on.', 'diesel')),
    licensePlate: optional(identifier(40, 'Its licence plate.', 'ABC-1234')),
    odometerKm: optional(
      number(0, 100_000_000, 'Its last odometer reading, in kilometres.', 184_220.5),
    ),
    lastLocation: optional(vehicleLocation('Where it was last seen.')),
    externalId,
    groupKeys: internal(
      optional(texts(groupLimits, 'Its groups as they are compared.', ['north'])),
    ),
  },
  searchKeys: ({ name, licensePlate }) => searchKeys(name, licensePlate),
  derive: ({ name, sourceId, groups }) => ({
    name: name ?? nameFrom(sourceId),
    externalId: null,
    groupKeys: storedGroupKeys(groups ?? []),
  }),
  list: {
    path: '/vehicles',
    order: 'createdAt',
    connection: 'required',
    filters: {
      status: equals('status', 'Only vehicles with this status.'),
      vin: { ...indexed('vin', 'Only the vehicle with this VIN, in any case.'), ofAccount: true },
      ...byExternalId,
    },
  },
});
