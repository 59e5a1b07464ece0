import { beforeAll, expect, it } from 'vitest';
import { ask, signIn } from '../../support/portal.ts';
import { accident, driver, safetyEvent, vehicle } from '../../support/records.ts';
import { as, type World, world } from '../../support/world.ts';

let us: World;
let them: World;
let cookie: string;
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
beforeAll(async () => {
  [us, them] = [await world(), await world()];
  ({ cookie } = await signIn(us));
  await as(us.connection.ingestKey).send(
    driver({ name: 'Joss' }),
    vehicle({ name: '=HYPERLINK("https://evil.example")', groups: ['North', 'East, far'] }),
    ...[1, 2, 3, 4, 5].map((risk) =>
      safetyEvent({
        sourceId: `e${risk}`,
        startedAt: ago(risk),
        eventRisk: risk,
        driver: 'driver-1',
        location: { latitude: 39.7, longitude: -104.9 },
      }),
    ),
  );
});

const file = (query = '', connection = us.connection.id) =>
  ask('GET', `/portal/events.csv?connection=${connection}${query}`, { cookie });
const linesOf = async (reply: Response) => (await reply.text()).trimEnd().split('\n');

it('is a file of what the filters show, newest first', async () => {
  const reply = await file('&risk=4');
  expect(reply.headers.get('content-disposition')).toMatch(
    /filename="safety-events-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d.csv"/,
  );
  expect(reply.headers.get('content-type')).toContain('text/csv');
  const [head = '', ...lines] = await linesOf(reply);
  expect(head).toContain('location.latitude,location.longitude');
  const at = head.split(',').indexOf('sourceId');
  expect(lines.map((line) => line.split(',')[at])).toEqual(['e4', 'e5']);
});

it('follows the link of the page, with all of its filters', async () => {
  const filters = `risk=2&type=Harsh+Braking&vehicle=%3Dhyper&vin=1FUJGLDR5CLBP8834`;
  const page = await (await ask('GET', `/portal/events?${filters}`, { cookie })).text();
  const link = /href="(\/portal\/events\.csv\?[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(link).toContain(filters);
  expect(await linesOf(await ask('GET', link, { cookie }))).toHaveLength(1 + 4);
  const none = await ask('GET', link.replace('hyper', 'van'), { cookie });
  expect(await linesOf(none)).toHaveLength(1);
});

it('is of the account alone', async () => {
  const refused = await file('', them.connection.id);
  expect(refused.headers.get('location')).toContain(`/portal/events?`);
  expect(refused.headers.get('location')).toContain(`connection=${them.connection.id}`);
  expect((await ask('GET', `/portal/events.csv?connection=${us.connection.id}`)).status).toBe(303);
});

it('of accidents has names, times of the reader’s zone, and the range in its name', async () => {
  await as(us.connection.ingestKey).send(accident({ eventTime: '2026-11-20T02:00:05Z' }));
  const zoned = `${cookie}; timezone=America%2FChicago`;
  const reply = await ask('GET', '/portal/accidents.csv?from=2026-11-19&to=2026-11-19&level=1', {
    cookie: zoned,
  });
  expect(reply.headers.get('content-disposition')).toContain('filename="accidents-2026-11-19.csv"');
  const text = await reply.text();
  expect(text).toContain('vehicleName,licensePlate,driverId,driverName,eventTime (America/Chicago)');
  expect(text).toContain(',2026-11-19 20:00:05,');
  expect(text).toContain('HYPERLINK');
  const others = await ask('GET', '/portal/accidents.csv?from=2026-11-20&to=2026-11-21', { cookie: zoned });
  expect(await linesOf(others)).toHaveLength(1);
  expect(await file('&risk=5').then((one) => one.text())).toMatch(/driverId,driverName[\s\S]*,Joss,/);
});
