import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { incidentTypes } from '#src/core/fleet/incidents/types.ts';
import { groupKey } from '#src/core/fleet/lists/group-keys.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import type { Filterable } from '#src/core/webhooks/filterable.ts';
import { isLetThrough } from '#src/core/webhooks/notifications/pass.ts';
import { type Filters, letsThrough, stored } from '#src/extras/filters/filters.ts';
import { addConnection, as, db, issueKey, ownRows, rows, story, vehicle } from '#test/support.ts';

const { us, send, register } = story();

const event = { level: 0, eventRisk: 3, translatedIncidentTypes: ['Crash', 'Speeding'] };
const level2 = { level: 2, groupKeys: ['north', 'süd'] };
it.each<[filters: Filters | null, Filterable, passes: boolean]>([
  [null, event, true],
  [{ minEventRisk: 3 }, event, true],
  [{ minEventRisk: 4 }, event, false],
  [{ minEventRisk: 5 }, level2, true],
  [{ incidentTypes: ['Speeding', 'Idling'] }, event, true],
  [{ incidentTypes: ['Idling'] }, event, false],
  [{ incidentTypes: ['Idling'] }, level2, true],
  [{ accidentLevels: [1, 2] }, level2, true],
  [{ accidentLevels: [1, 3] }, level2, false],
  [{ accidentLevels: [3] }, event, true],
  [{ vehicleGroups: ['SÜD', 'East'] }, level2, true],
  [{ vehicleGroups: ['East'] }, level2, false],
  [{ vehicleGroups: ['East'] }, { ...level2, groupKeys: [] }, false],
  [{ vehicleGroups: ['East'] }, { ...level2, groupKeys: undefined }, true],
  [{ vehicleGroups: ['North'], accidentLevels: [3] }, level2, false],
  ...[
    ['Straße 1', 'STRASSE 1'],
    ['Caf\u00e9', 'CAFE\u0301'],
    ['"Quoted"', '"QUOTED"'],
  ].map(([wanted = '', group = '']): [Filters, Filterable, boolean] => [
    { vehicleGroups: [wanted] },
    { ...level2, groupKeys: [groupKey(group)] },
    true,
  ]),
])('the filters %j let %j through: %s', (filters, of, passes) => {
  expect(letsThrough(stored(filters), of)).toBe(passes);
});

const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
const anyFilters: fc.Arbitrary<Filters | null> = fc.option(
  fc.record(
    {
      minEventRisk: fc.constantFrom(1, 2, 3, 4, 5),
      incidentTypes: fc.subarray([...incidentTypes].slice(0, 5), { minLength: 1 }),
      vehicleGroups: some('North', 'SÜD', 'East'),
      accidentLevels: some(1, 2, 3),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Filters>, // some of its properties
);
const groups = [[], ['North'], ['Süd', 'West'], ['east']];
const anyNotification = fc.record({
  vehicle: fc.constantFrom(...groups.flatMap((_, i) => [`own ${i}`, `other ${i}`]), 'unknown'),
  about: fc.oneof(
    fc.record({ level: fc.constantFrom(1, 2, 3) }),
    fc.record({
      level: fc.constant(0),
      eventRisk: fc.constantFrom(1, 2, 3, 4, 5),
      translatedIncidentTypes: fc.subarray([...incidentTypes].slice(0, 5)),
    }),
  ),
});

it('the statement of fan-outs lets through what the function does', {
  timeout: 60_000,
}, async () => {
  const other = await addConnection(us.accountId);
  const sayOther = as(await issueKey(other.id)).send;
  for (const [i, of] of groups.entries()) {
    await send(vehicle({ sourceId: `own ${i}`, groups: of }));
    await sayOther(vehicle({ sourceId: `other ${i}`, groups: of }));
  }
  const known = await ownRows(us, 'vehicles');
  const idOf = new Map(known.map(({ id, source_id }) => [source_id, id]));
  const hooks = [
    { ...(await register()), covers: ['own'] },
    {
      ...(await register({ connectionIds: [us.connection.id, other.id] })),
      covers: ['own', 'other'],
    },
  ];
  const all = fc.tuple(
    fc.tuple(anyFilters, anyFilters),
    fc.array(anyNotification, { minLength: 1 }),
  );
  await fc.assert(
    fc.asyncProperty(all, async ([filters, notifications]) => {
      for (const [i, { id }] of hooks.entries())
        await rows(
          "update webhooks set options = json_object('filters', json(?1)) where id = ?2",
          JSON.stringify(stored(filters[i] ?? null)),
          id,
        );
      const ns = notifications.map(({ vehicle, about: { level, ...data } }) => ({
        vehicleId: idOf.get(vehicle) ?? null,
        level,
        data,
      }));
      const ws = hooks.map(({ id }, i) => ({ id, filtered: filters[i] !== null }));
      const passed = await transaction(
        db,
        db.all<{ n: number; w: number }>(sql`
          select n.key as n, w.key as w from json_each(${JSON.stringify(ns)}) n
          cross join (
            select key, value->>'id' as webhook_id, value->>'filtered' as filtered
            from json_each(${JSON.stringify(ws)})) w
          where ${isLetThrough()} order by n.key, w.key`),
      );
      const expected = notifications.flatMap(({ vehicle, about }, n) =>
        hooks.flatMap(({ covers }, w) => {
          const [of = '', place] = vehicle.split(' ');
          const groupKeys = covers.includes(of) ? groups[Number(place)]?.map(groupKey) : undefined;
          return letsThrough(stored(filters[w] ?? null), { ...about, groupKeys }) ? [{ n, w }] : [];
        }),
      );
      expect(passed).toEqual(expected);
    }),
  );
});
