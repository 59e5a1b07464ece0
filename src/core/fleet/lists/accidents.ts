import { sql } from 'drizzle-orm';
import * as v from 'valibot';
import { recordId } from '../../platform/db/ids.ts';
import { accidents as table } from '../../platform/db/schema/fleet.ts';
import { QueryBoolean, QueryIds, QueryList, QueryText } from '../../platform/query.ts';
import { needsAttention, ofDrivers, ofVehicles } from './accident-filters.ts';
import { drivers } from './drivers.ts';
import { added, derivable, derived, optional, orElse, unlisted } from './field.ts';
import { accidentLevels, evidence, handled, location } from './field-objects.ts';
import {
  boolean,
  choice,
  email,
  httpsUrl,
  magnitude,
  number,
  reference,
  scale,
  text,
  time,
  uuid,
  vin,
} from './field-types.ts';
import { atLeast, atMost, equals, matching } from './filters.ts';
import { declareList, type ListDeclaration } from './list.ts';
import { recordKind, sourceIdText } from './record.ts';
import { exampleConnectionId, listed, stamps } from './resource.ts';
import { vehicles } from './vehicles.ts';

const sourceId = 'crash-3';
const ownVin = vin(
  'The vehicle identification number; empty for what cannot be one, such as `UNKNOWN`.',
);

/** Further details for a claim, if the provider has them. */
const context = {
  maxSpeedKph: optional(number(0, 1000, 'The highest speed, in kilometres per hour.', 88)),
  accelerationG: optional(magnitude(1000, 'The strongest acceleration, in g.', 3.2)),
  severity: optional(
    choice(
      ['low', 'medium', 'high', 'critical'],
      'Its severity, as the provider rates it.',
      'high',
    ),
  ),
  detectedAt: optional(time('When the provider reported it.', '2026-11-20T20:00:01.200Z')),
};

/** Of a record, which is one level, and of the accident that its records add up to. */
const fields = {
  tSP: derived(text(200, "The provider's name. The key is spelled exactly like this.", 'Motive')),
  vin: {
    ...derivable(ownVin, 'Required unless the accident names its vehicle.'),
    input: v.optional(ownVin.input), // null in the contract would break it
  },
  vehicleId: optional(
    reference(
      vehicles,
      'The vehicle that the provider names, otherwise one of the account with that VIN, preferably active and of the ' +
        'same connection. Null if none is known, or if several could be meant. Decided at each level.',
    ),
  ),
  vehicleName: added(
    optional(text(200, 'The name of that vehicle, as it was then.', vehicles.itemExample.name)),
  ),
  licensePlate: added(optional(text(40, 'Its licence plate, as it was then.', 'ABC-1234'))),
  driverId: optional(reference(drivers, 'Who drove.')),
  driverName: added(
    optional(text(200, "The driver's name, as it was then.", drivers.itemExample.name)),
  ),
  eventTime: time('When it happened.'),
  location: location('Where it happened.'),
  ...context,
  notificationLevel: {
    ...scale(1, 3, 'The highest level reached: 1 first detection, 2 verified, 3 report-ready.', 1),
    inRecord: '1 first detection, 2 verified, 3 report-ready.',
  },
  reportReady: derivable(
    boolean('Whether the full report is available.', false),
    'Defaults to true at level 3, false before.',
  ),
  isAccurate: {
    ...derivable(
      boolean('Whether the detection has been verified; false for a false alarm.', false),
      'Defaults to true from level 2, false before.',
    ),
    inRecord: 'Whether the detection has been verified.',
  },
  dismissed: orElse(boolean('Whether it is a false alarm.', false), false),
  reportUrl: optional(
    httpsUrl(2000, "Where to read the provider's report.", 'https://reports.example.com/crash-3'),
  ),
  levels: added(
    accidentLevels('The levels that the provider has reported, and when each was first received.'),
  ),
  assignedTo: added(
    optional(
      email('The person it is assigned to in the portal, by email address.', 'ann@example.com'),
    ),
  ),
  note: added(
    optional(
      text(500, 'The latest note of the people who handle it in the portal.', 'Called Robin'),
    ),
  ),
  acknowledged: added(
    optional(handled('Who has acknowledged it in the portal; null if nobody has.')),
  ),
  closed: added(
    optional(handled('Who has closed it in the portal; null if nobody has, or it was reopened.')),
  ),
};

const item = {
  eventId: uuid(
    'Its identifier: the `eventId` of its notifications.',
    recordId(exampleConnectionId, 'accident', sourceId),
  ),
  connectionId: uuid('The connection it belongs to.', exampleConnectionId),
  sourceId: added(optional(sourceIdText(sourceId))),
  ...fields,
  ...stamps,
};

const list: ListDeclaration<keyof typeof item> = {
  path: '/accidents',
  id: 'eventId',
  order: 'eventTime',
  connection: 'optional',
  range: 'optional',
  ofVehicle: ['vehicleId', 'vehicleName', 'licensePlate'],
  filters: {
    vin: equals('vin', 'Only accidents with this VIN, in any case.'),
    vehicleIds: matching(
      'vehicleId',
      'Only accidents of these vehicles, or with their VINs.',
      QueryIds,
      {
        where: ofVehicles,
      },
    ),
    driverIds: matching(
      'driverId',
      'Only accidents of these drivers. One that names no driver is of the one whose trip the ' +
        'vehicle was on, unless the trip is archived.',
      QueryIds,
      { where: ofDrivers },
    ),
    minLevel: atLeast('notificationLevel', 'Only accidents that have reached at least this level.'),
    dismissed: equals('dismissed', 'Only false alarms (true), or only the others (false).'),
  },
};

/** A record is a level of an accident; a row is the accident. `notified` has a bit for each level. */
export const accidents = {
  ...listed(
    'accident',
    'An accident as its levels describe it, the highest level, and when each was received. Its `eventId` ' +
      'is that of its notifications.',
    item,
    table,
    list,
  ),
  ...recordKind({
    kind: 'accident',
    sourceId,
    record:
      'One level of an accident, or a new version of one. Webhooks that subscribe to accidents are notified once of each level.',
    fields: {
      ...fields,
      evidence: optional(
        unlisted(
          evidence(
            'Videos, photos, reports and telemetry. They are copied if the account keeps evidence.',
          ),
        ),
      ),
    },
    derive: ({ vin, notificationLevel, reportReady, isAccurate }, source) => ({
      tSP: source.tSP,
      vin: vin ?? '',
      reportReady: reportReady ?? notificationLevel === 3,
      isAccurate: isAccurate ?? notificationLevel >= 2,
    }),
  }),
};

/** Stands for accidents that are assigned to nobody. */
export const unassigned = 'nobody';

/** The same list for the portal, with a filter for open ones. */
export const accidentsByState = declareList(item, table, {
  ...list,
  filters: {
    ...list.filters,
    attention: matching(
      'acknowledged',
      'Only those that need attention (true), or only the others (false).',
      QueryBoolean,
      { where: (_, wanted) => sql`(${needsAttention}) = ${wanted}` },
    ),
    closed: matching(
      'closed',
      'Only those that somebody has closed (true), or only the others (false).',
      QueryBoolean,
      { where: (column, closed) => sql`(${column} is not null) = ${Number(closed)}` },
    ),
    assignedTo: matching(
      'assignedTo',
      'Only those of this person, or those of nobody.',
      QueryText,
      {
        where: (column, email) =>
          email === unassigned ? sql`${column} is null` : sql`${column} = ${email}`,
      },
    ),
    vehicles: matching('vehicleId', 'The same as vehicleIds, or VINs.', QueryList, {
      where: ofVehicles,
    }),
    maxLevel: atMost('notificationLevel', 'Only accidents up to this level.'),
  },
});
