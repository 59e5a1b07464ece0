import { beforeAll, expect, it } from 'vitest';
import { ask, signIn } from '../support/portal.ts';
import { rows } from '../support/rows.ts';
import { as, safetyEvent, vehicle, type World, world } from '../support/world.ts';

let us: World;
let them: World;
let cookie: string;
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
beforeAll(async () => {
  [us, them] = [await world(), await world()];
  ({ cookie } = await signIn(us));
  await as(us.connection.ingestKey).send(
    vehicle({ name: '=HYPERLINK("https://evil.example")', groups: ['North', 'East, far'] }),
    ...[1, 2, 3, 4, 5].map((risk) =>
      safetyEvent({
        sourceId: `e${risk}`,
        startedAt: ago(risk),
        eventRisk: risk,
        location: { latitude: 39.7, longitude: -104.9 },
      }),
    ),
  );
});

const file = (query = '', connection = us.connection.id) =>
  ask('GET', `/portal/events.csv?connection=${connection}${query}`, { cookie });
const linesOf = async (reply: Response) => (await reply.text()).trimEnd().split('\n');

it('is a file of what the filters show, newest first', async () => {
  const reply = await file('&risk=4&days=7');
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="safety-events.csv"');
  expect(reply.headers.get('content-type')).toContain('text/csv');
  const [head = '', ...lines] = await linesOf(reply);
  expect(head).toContain('location.latitude,location.longitude');
  const at = head.split(',').indexOf('sourceId');
  expect(lines.map((line) => line.split(',')[at])).toEqual(['e4', 'e5']);
  const page = await (await ask('GET', `/portal/events?risk=4`, { cookie })).text();
  expect(page).toContain(`/portal/events.csv?connection=${us.connection.id}&amp;risk=4&amp;days=7`);
});

it('has no formulas in it, but negative numbers', async () => {
  const text = await (await file('&risk=5')).text();
  expect(text).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
  expect(text).toContain('39.7,-104.9');
  expect(text).toContain('"North|East, far"');
});

it('is of the account alone', async () => {
  expect((await file('', them.connection.id)).status).toBe(404);
  expect((await ask('GET', `/portal/events.csv?connection=${us.connection.id}`)).status).toBe(303);
});

it('goes on from page to page, and says when it does not have all', { timeout: 120_000 }, async () => {
  await rows(
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < ?3)
     insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
       created_at, updated_at)
     select 'many-' || i, account_id, connection_id, 's' || i, tsp, '[]', '[]', 1, 0, ?2 - i, vehicle_id,
       'Truck', '[]', 0, 0 from safety_events, n where id = (select min(id) from safety_events where account_id = ?1)`,
    us.accountId,
    Date.now() - 1000,
    100_000,
  );
  const lines = await linesOf(await file('&days=1'));
  expect(lines).toHaveLength(1 + 100_000 + 1);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.at(-1)).toContain('Choose a shorter period');
});
