import { timeSaid } from '#src/extras/why/commands.ts';
import { fakeService } from '#test/support/node/index.ts';

const id = '01a221b9-5de4-74cd-9e8e-2a7c8706e87e';
const at = '2026-11-20T20:15:04.120Z';
const truck = {
  id,
  name: 'Truck 12',
  licensePlate: 'AB-123',
  account: 'Acme',
  connection: 'Samsara',
};
const webhook = { webhookId: id, name: null, url: 'https://claims.example.com/in' };
const failed = { ...webhook, name: 'Claims', id, level: 0, status: 'failed', createdAt: at };
const event = {
  kind: 'event',
  eventId: id,
  what: ['Speeding'],
  eventRisk: 4,
  at,
  receivedAt: at,
  vehicle: 'Truck 12',
  vin: null,
  connection: 'Samsara',
  account: 'Acme',
  complete: true,
  deliveries: [{ ...failed, pausedAt: null, last: { at, result: 'status', status: 503 } }],
  unnotified: [{ ...webhook, why: 'its filters leave this out' }],
  alerted: [],
};

let found: object[] = [];
let incidents: (query: URLSearchParams) => object[] = () => [];
const asked: string[] = [];
const { fleet } = await fakeService(({ url: { pathname, searchParams } }) => {
  asked.push(`${pathname}?${searchParams}`);
  return { data: pathname.endsWith('/find') ? found : incidents(searchParams) };
});
const why = (words: string, ...args: string[]) => fleet(`why ${words}`, ...args);
beforeEach(() => {
  found = [{ ...truck, meant: true }];
  incidents = () => [event];
  asked.length = 0;
});

it('prints what came in, who was notified, and why a webhook was not', async () => {
  const { out } = await why('--at 2026-11-20T20:00:00Z --vehicle', 'truck 12');
  expect(out).toMatch(/^event +Speeding, risk 4$/m);
  expect(out).toMatch(/^2026-11-20 20:15:04Z +Claims +event +failed +HTTP 503 +01a221b9/m);
  expect(out).toMatch(/^claims\.example\.com +its filters leave this out/m);
  const range = { from: '2026-11-20T19:30:00.000Z', to: '2026-11-20T20:30:00.000Z' };
  expect(asked.at(-1)).toBe(`/operator/why?${new URLSearchParams({ vehicleId: id, ...range })}`);
});

it.each([
  ['--event', { eventId: id }],
  ['--accident', { eventId: id }],
  ['--driver', { driverId: id }],
])('asks by %s', async (option, query) => {
  await why(option, id);
  expect(asked.at(-1)).toBe(`/operator/why?${new URLSearchParams(query)}`);
});

it('names those that may be meant, or whose names are nearest', async () => {
  found.push({ ...truck, id: 'other', account: 'Globex', meant: true });
  const several = await why('--vehicle', 'Truck 12');
  const first = `Truck 12, AB-123, Acme (${id})`;
  expect(several.err).toContain(`the id of one: ${first}; Truck 12, AB-123, Globex (other)`);
  found = [{ ...truck, meant: false }];
  const nearest = await fleet('delivery find --vehicle', 'Truk 12');
  expect(nearest.err).toContain(
    `There is no vehicle with this name, plate, VIN or id. The nearest are: ${first}\n`,
  );
  found = [];
  expect((await why('--driver Nobody')).err).toMatch(/name or id\. No name is similar$/m);
});

it('says when nothing came in then, and what came in before', async () => {
  incidents = (query) => (query.has('limit') ? [event] : []);
  const { out } = await why('--vehicle x --at 2026-11-21T00:00:00Z');
  expect(out).toMatch(/^Nothing came in for Truck 12 of Acme from 2026-11-20 23:30:00Z to /);
  expect(out).toContain('The latest before: Speeding, risk 4, 2026-11-20 20:15:04Z.');
});

it('needs one thing that is meant', async () => {
  expect((await why('--at 14:05')).err).toContain('give one of --vehicle, --driver,');
  expect((await why(`--event ${id} --driver x`)).err).toContain('give one of');
});

const here = (hours: number, minutes: number, day = 20) =>
  new Date(2026, 10, day, hours, minutes).getTime();

it.each<[said: string, at: number | 'refused']>([
  ['14:05', here(14, 5)],
  ['9:30', here(9, 30)],
  ['16:00', here(16, 0, 19)],
  ['2026-11-18 14:05', here(14, 5, 18)],
  ['2026-11-18T14:05:00+01:00', Date.UTC(2026, 10, 18, 13, 5)],
  ['24:00', 'refused'],
  ['2pm', 'refused'],
  ['2026-11-18', 'refused'],
])('at 15:00, %s is a time', (said, at) => {
  const time = () => timeSaid(said, here(15, 0));
  if (at === 'refused') expect(time).toThrow('It must be a time');
  else expect(time()).toBe(at);
});

it('a time of yesterday is that of its clocks, though they have changed since', () => {
  vi.stubEnv('TZ', 'America/New_York');
  const at = timeSaid('14:05', new Date(2026, 2, 8, 9, 0).getTime());
  vi.unstubAllEnvs();
  expect(at).toBe(Date.UTC(2026, 2, 7, 19, 5));
});
