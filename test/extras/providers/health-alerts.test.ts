import { env } from 'cloudflare:workers';
import { samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { notifyAfterMs, quietMs, sendHealthAlerts } from '#src/extras/providers/health-alerts.ts';
import { pull } from '#src/extras/providers/pull.ts';
import { addRow, keepEmails, operator, rows, signIn, unwoken } from '#test/support.ts';
import { samsara } from './fleets/samsara.ts';
import { providerStory } from './support.ts';

let provider: ReturnType<typeof samsara>;
const tale = providerStory('samsara', () => provider.data.token);
const { connected, events, pullAll, pullRun } = tale;
let emails: ReturnType<typeof keepEmails>;
const quiet = { ...env, DELIVERIES: unwoken };
async function sent() {
  await sendMessages(env, Date.now() + 2 * quietMs);
  return emails.sent();
}

beforeEach(async () => {
  await rows('delete from pulls');
  provider = samsara(tale.hooks);
  emails = keepEmails();
  await signIn(tale.us);
});

/** A path of operators, of the connection. */
const ofIt = (what: string) => `/operator/connections/${tale.id}/${what}`;
type Listed = { id: string; healthStatus: number };
const healthStatus = async () =>
  (await tale.us.api.get<Listed[]>('/connections')).data.find(({ id }) => id === tale.id)
    ?.healthStatus;

it('stops when Samsara refuses the credential, says so, and goes on with a new one', async () => {
  await connected();
  const old = provider.data.token;
  provider.data.token = 'samsara_api_made_up_2';
  await pullRun();
  expect(await healthStatus()).toBe(3);
  provider.calls.length = 0;
  await pull(env, [tale.id]);
  expect(provider.calls).toEqual([]);
  await Promise.allSettled([sendHealthAlerts(quiet), sendHealthAlerts(quiet)]); // as after a lost lease
  expect(await sendHealthAlerts(quiet)).toBe(0);
  const advice = 'refuses the API token. Create a new one with';
  expect(await sent()).toMatchObject([
    { subject: 'Acme Trucking is unavailable', text: expect.stringContaining(advice) },
  ]);
  expect((await sent())[0]?.text).not.toContain(old);

  provider.data.events.push(samsaraEvent(samsaraVehicle(1), 'Braking', Date.now() + 1));
  expect((await operator.put(ofIt('credential'), { credential: provider.data.token })).status).toBe(
    200,
  );
  // At once, though its feeds were to wait.
  await expect.poll(() => events()).toHaveLength(1);
  await pullAll();
  expect(await healthStatus()).toBe(1);
  const drivers = provider.calls.findLast(({ pathname }) => pathname === '/fleet/drivers');
  expect(drivers?.searchParams.has('updatedAfterTime')).toBe(true); // its cursors are kept
  expect(await sendHealthAlerts(quiet, Date.now() + quietMs)).toBe(1);
  expect((await sent())[1]?.subject).toBe('Acme Trucking works again');
});

it('tells of what may pass by itself only after a while', async () => {
  await connected();
  provider.fault = ({ pathname }) =>
    pathname === '/trips/stream' ? Response.json({}, { status: 403 }) : undefined;
  await pullRun();
  expect(await healthStatus()).toBe(4);
  expect(await sendHealthAlerts(quiet)).toBe(0);
  expect(await sendHealthAlerts(quiet, Date.now() + notifyAfterMs)).toBe(1);
  const text = expect.stringContaining('needs these permissions: Read Vehicles');
  expect(await sent()).toMatchObject([{ subject: 'Acme Trucking is incomplete', text }]);
});

it('is unavailable once nothing came for a day, also when no run of it ends any more', async () => {
  await connected();
  const day = 86_400_000;
  await rows(
    'update connections set last_pulled_at = last_pulled_at - ?2 where id = ?1',
    tale.id,
    day,
  );
  await rows(`update pulls set secrets = '{}' where connection_id = ?1`, tale.id);
  vi.spyOn(console, 'error').mockImplementation(() => {}); // each run says so
  for (const status of [1, 3]) {
    await rows('update pulls set due_at = 0, claimed_until = 0 where connection_id = ?1', tale.id);
    await pull(env, [tale.id]);
    expect(await healthStatus()).toBe(status);
  }
});

it('says of several problems the one that stops it', async () => {
  provider.fault = ({ pathname }) =>
    pathname === '/fleet/drivers' ? Response.json({}, { status: 403 }) : undefined;
  await connected();
  provider.data.token = 'samsara_api_made_up_2';
  await rows('update pulls set due_at = 0 where connection_id = ?1', tale.id);
  await pull(env, [tale.id]);
  expect(await sendHealthAlerts(quiet)).toBe(1);
  const text = expect.stringContaining('refuses the API token');
  expect(await sent()).toMatchObject([{ subject: 'Acme Trucking is unavailable', text }]);
});

it('tells people of nothing that they have paused, but of consent that was withdrawn', async () => {
  await connected();
  await rows('update pulls set health = 2, health_at = 1 where connection_id = ?1', tale.id);
  await operator.post(ofIt('pause'), {});
  expect(await sendHealthAlerts(quiet)).toBe(0);
  await addRow('connect_links', {
    account_id: tale.us.accountId,
    connection_id: tale.id,
    withdrawn_at: 1,
  });
  expect(await sendHealthAlerts(quiet)).toBe(1);
  expect((await sent())[0]?.text).toContain('consent to it was withdrawn');
});
