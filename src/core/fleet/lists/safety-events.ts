import { or, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { safetyEvents as table } from '../../platform/db/schema/fleet.ts';
import { QueryBoolean, QueryList } from '../../platform/query.ts';
import { normaliseIncidents } from '../incidents/translate.ts';
import { incidentTypeOf, incidentTypes, isIncidentType } from '../incidents/types.ts';
import { drivers } from './drivers.ts';
import { copyOf, derivable, derived, fixed, optional, orElse, unlisted } from './field.ts';
import { location } from './field-objects.ts';
import { boolean, emails, number, reference, scale, text, texts, time } from './field-types.ts';
import { atLeast, indexed, matching } from './filters.ts';
import { resource } from './resource.ts';
import { trips } from './trips.ts';
import { vehicles } from './vehicles.ts';

const incidentTypeLimits = { max: 20, length: 100, bytes: 1000 };
/** Every delivery of the event has them. */
const recipientLimits = { max: 50, length: 320, bytes: 4000 };

const EventTypes = v.pipe(
  QueryList,
  v.check((names) => names.every(isIncidentType), 'must be normalised incident types'),
  v.transform((names) => [...new Set(names.flatMap((name) => incidentTypeOf(name) ?? []))]),
  v.metadata({ type: 'array', items: { type: 'string', enum: incidentTypes }, maxItems: 100 }),
);

export const safetyEvents = resource({
  kind: 'safetyEvent',
  table,
  description:
    'Something that happened on the road. Its `id` is the `eventId` of its notification.',
  sourceId: 'e1',
  record:
    'A safety event, or a new version of one. Webhooks that subscribe to events are notified of new ones.',
  fields: {
    tSP: fixed(
      derived(text(200, "The provider's name. The key is spelled exactly like this.", 'Motive')),
    ),
    vehicleId: reference(vehicles, 'Its vehicle.'),
    vehicleName: copyOf(vehicles, 'name', "The vehicle's name at that time."),
    vehicleVin: copyOf(vehicles, 'vin', "The vehicle's VIN at that time."),
    vehicleGroups: copyOf(
      vehicles,
      'groups',
      'The groups that the vehicle belonged to at that time.',
    ),
    driverId: optional(reference(drivers, 'Its driver, if known.')),
    tripId: optional(reference(trips, 'The trip it happened on, if known.')),
    incidentTypes: orElse(
      texts(incidentTypeLimits, "What happened, in the provider's words.", ['hard_brake']),
      [],
    ),
    translatedIncidentTypes: derived(
      texts(incidentTypeLimits, 'What happened, in the same words for all providers.', [
        'Harsh Braking',
      ]),
    ),
    eventRisk: derivable(
      scale(1, 5, '1 very low to 5 critical; look at 4 and 5 first.', 3),
      'If it is left out, it follows from the incident types.',
    ),
    startedAt: time('When it began.'),
    issuedOn: derivable(time('When it was issued.'), 'Defaults to `startedAt`.'),
    endedAt: optional(time('When it ended.', '2026-11-20T20:00:04.000Z')),
    location: optional(location('Where it happened.')),
    maxSpeedKph: optional(number(0, 1000, 'The highest speed, in kilometres per hour.', 91)),
    speedLimitKph: optional(number(0, 1000, 'The speed limit there, in kilometres per hour.', 88)),
    withdrawn: optional(
      boolean(
        'Whether the provider has withdrawn it, such as a false detection; null is as good as false.',
        false,
      ),
    ),
    recipients: fixed(
      optional(
        unlisted(
          emails(recipientLimits, 'The email addresses of the people to notify.', [
            'safety@example.com',
          ]),
        ),
      ),
    ),
  },
  derive: ({ incidentTypes, eventRisk, startedAt, issuedOn }, source) => {
    const { types, risk } = normaliseIncidents(source, incidentTypes ?? []);
    return {
      tSP: source.tSP,
      translatedIncidentTypes: types,
      eventRisk: eventRisk ?? risk,
      issuedOn: issuedOn ?? startedAt,
    };
  },
  list: {
    path: '/safety-events',
    order: 'startedAt',
    connection: 'required',
    range: 'required',
    archived: true,
    filters: {
      vehicleIds: indexed('vehicleId', 'Only events of these vehicles.'),
      driverIds: indexed('driverId', 'Only events of these drivers.'),
      eventTypes: matching(
        'translatedIncidentTypes',
        'Only events with one of these types, by their normalised names.',
        EventTypes,
        // The types are a few fixed words, so finding a quoted one in the JSON is exact. As parameters they could be
        // too many for a statement.
        {
          where: (column, types) =>
            or(...types.map((type) => sql`instr(${column}, ${sql.raw(`'"${type}"'`)}) > 0`)) ??
            sql`true`,
          passes: (stored, types) => types.some((type) => String(stored).includes(`"${type}"`)),
        },
      ),
      minEventRisk: atLeast('eventRisk', 'Only events of at least this risk.'),
      withdrawn: matching(
        'withdrawn',
        'Only withdrawn events (true), or only the others (false).',
        QueryBoolean,
        {
          where: (column, withdrawn) => sql`coalesce(${column}, 0) = ${withdrawn}`,
          passes: (stored, withdrawn) => Number(stored ?? 0) === withdrawn,
        },
      ),
    },
  },
});
