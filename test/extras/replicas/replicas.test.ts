import { env } from 'cloudflare:workers';
import { encodePosition } from '#src/core/platform/db/cursor.ts';
import { allLapsedMs, trustedMs } from '#src/core/platform/db/reads.ts';
import { emptyArchive, insertTrips, move } from '#test/extras/archive/support.ts';
import {
  addConnection,
  dayMs,
  invalid,
  issueToken,
  operator,
  register,
  rows,
  value,
  vehicle,
  worldBefore,
} from '#test/support.ts';
import { replicated } from './support.ts';

const us = worldBefore(beforeEach);
let here: Awaited<ReturnType<typeof replicated>>;
beforeEach(async () => {
  here = await replicated();
  await us.send(vehicle({ sourceId: 'v1', name: 'One' }));
  await here.catchUp();
});

const key = (more: Record<string, string> = {}) => ({ 'x-api-key': us.apiToken, ...more });
const ofConnection = () => key({ 'connection-id': us.connection.id });
const vehicles = (query = '', more: Record<string, string> = {}) =>
  here.call('GET', `/vehicles${query}`, { ...ofConnection(), ...more });
const names = (reply: { data: { name: string }[] }) => reply.data.map(({ name }) => name);
const newVehicle = (name: string) => us.send(vehicle({ sourceId: name, name }));
const operators = { authorization: `Bearer ${env.OPERATOR_KEY}` };

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = Date.now();
  await work();
  return Date.now() - began;
}

describe('a list', () => {
  it('is read from the replica, its token checked on the primary every two seconds', async () => {
    await newVehicle('Two');
    await rows('update tokens set last_used_at = ?', Date.now()); // or its use would be recorded too
    expect(names(await vehicles())).toEqual(['One']);
    expect(here.ran).toEqual({ primary: 1, replica: 1 });
    here.forget();
    expect(names(await vehicles())).toEqual(['One']);
    expect(here.ran).toEqual({ primary: 0, replica: 1 });
    await scheduler.wait(trustedMs / 2);
    here.forget();
    await vehicles();
    await vehicles();
    expect(here.ran).toEqual({ primary: 1, replica: 2 }); // once, behind the first reply
  });

  it('is refused by the primary, however good the replica thinks the token is', async () => {
    await rows('update tokens set revoked_at = 1 where id = ?', us.tokenId);
    expect((await vehicles()).status).toBe(401);
    await rows(`update tokens set revoked_at = null where id = ?`, us.tokenId);
    await rows(`update accounts set status = 'suspended' where id = ?`, us.accountId);
    expect((await vehicles()).status).toBe(403);
  });

  it('is read from the primary for whoever asks for that', async () => {
    await vehicles();
    await newVehicle('Two');
    here.forget();
    expect(names(await vehicles('', { 'cache-control': 'max-age=0, No-Cache' }))).toEqual([
      'One',
      'Two',
    ]);
    expect(here.ran).toEqual({ primary: 1, replica: 0 });
  });

  it('never goes back in time from page to page', async () => {
    await newVehicle('Two');
    await newVehicle('Three');
    const first = await vehicles('?limit=1', { 'cache-control': 'no-cache' });
    expect(names(first)).toEqual(['One']);
    here.forget();
    const second = await vehicles(`?limit=1&cursor=${first.next}`);
    expect(names(second)).toEqual(['Two']);
    const third = await vehicles(`?limit=1&cursor=${second.next}`);
    expect(names(third)).toEqual(['Three']);
    expect(here.begun).toEqual(['seen-2', 'seen-2']);
  });

  it('is read from the primary when the replica fails, which is logged', async () => {
    const log = vi.spyOn(console, 'warn').mockReturnValue();
    for (const failure of ['no such table: vehicles', 'Network connection lost.']) {
      here.failure = `D1_ERROR: ${failure}`;
      here.forget();
      expect(names(await vehicles())).toEqual(['One']);
      expect(here.ran.replica).toBe(1);
    }
    expect(log.mock.calls.join()).toContain('A replica failed');
  });

  it('is read from the primary when files are gone that the replica still names', async () => {
    const trip = { startedAt: 20 * dayMs, id: crypto.randomUUID() };
    await insertTrips(us, [trip]);
    await move(us, trip.startedAt);
    await here.catchUp();
    const trips = () => here.call('GET', '/trips', key());
    expect(await trips()).toMatchObject({ status: 200, data: [{ id: trip.id }] });
    expect(here.ran.replica).toBeGreaterThan(0);
    await emptyArchive();
    await insertTrips(us, [trip]);
    expect(await trips()).toMatchObject({ status: 200, data: [{ id: trip.id }] });
  });

  it('is not read from a replica by operators', async () => {
    here.forget();
    const path = `/operator/connections/${us.connection.id}/records?kind=vehicle`;
    await here.call('GET', path, operators);
    expect(here.ran.replica).toBe(0);
  });

  it('still notes that its token was used', async () => {
    await rows('update tokens set last_used_at = 0 where id = ?', us.tokenId);
    for (let i = 0; i < 3; i++) await vehicles();
    const noted = await value('select last_used_at from tokens where id = ?', us.tokenId);
    expect(noted).toBeGreaterThan(Date.now() - 10_000);
  });
});

describe('what the replica does not know', () => {
  const read = (path: string, more = key()) => here.call('GET', path, more);

  it('is looked up on the primary before it is refused', async () => {
    await vehicles();
    const connection = await addConnection(us.accountId);
    const reply = await read('/vehicles', key({ 'connection-id': connection.id }));
    expect(reply).toMatchObject({ status: 200, data: [] });
    const { id } = await register(us);
    expect((await read(`/deliveries?webhookId=${id}`)).status).toBe(200);
    const { value: token } = await issueToken(us.accountId);
    expect((await read('/drivers', { 'x-api-key': token })).status).toBe(200);
  });

  it('is refused if the primary does not know it either', async () => {
    const nothing = crypto.randomUUID();
    for (const [what, reply] of [
      ['connection', await read('/vehicles', key({ 'connection-id': nothing }))],
      ['webhook', await read(`/deliveries?webhookId=${nothing}`)],
    ])
      expect(reply).toMatchObject(invalid(`Invalid ${what} id`));
  });

  it('is repeated to whoever saves a cursor and then reads the lists', async () => {
    await newVehicle('Two');
    const { resume } = (await read('/changes?cursor=now')) as { resume?: string };
    expect(names(await vehicles())).toEqual(['One']);
    const later = await read(`/changes?cursor=${resume}`);
    expect(JSON.stringify(later.data)).toContain('"name":"Two"');
  });
});

describe('a cursor', () => {
  const listed = () => JSON.stringify(['/vehicles', us.accountId, us.connection.id, {}, {}, false]);
  const position = { sort: 0, id: '' };
  it('works with a bookmark that says nothing, and where there are no replicas', async () => {
    const one = { status: 200, data: [{ name: 'One' }] };
    for (const bookmark of [undefined, 'main:nonsense', 'euro:seen-99', 'x'.repeat(300)]) {
      const cursor = encodePosition(position, listed(), bookmark);
      expect(await vehicles(`?cursor=${cursor}`)).toMatchObject(one);
    }
    expect(here.begun).not.toContain('seen-99'); // another database's says nothing here
    const cursor = encodePosition(position, listed(), 'main:seen-1');
    expect(await us.lists.get(`/vehicles?cursor=${cursor}`)).toMatchObject(one);
  });

  it('is invalid with what cannot be a bookmark', async () => {
    for (const bookmark of ['', 'a b', 'x'.repeat(301)]) {
      const reply = await vehicles(`?cursor=${encodePosition(position, listed(), bookmark)}`);
      expect(reply).toMatchObject(invalid('Invalid cursor'));
    }
  });
});

describe('revoking', () => {
  const revoke = (id: string) => here.call('DELETE', `/operator/tokens/${id}`, operators);

  it('returns once no isolate has the token cached any more', async () => {
    expect((await vehicles()).status).toBe(200);
    const revoked = timed(() => revoke(us.tokenId));
    const revokedAt = () => value('select revoked_at from tokens where id = ?', us.tokenId);
    await expect.poll(revokedAt).toBeTruthy();
    expect((await vehicles()).status).toBe(200); // nobody has been told yet
    expect(await revoked).toBeGreaterThanOrEqual(allLapsedMs - 5);
    expect((await vehicles()).status).toBe(401);
    expect(await timed(() => revoke(us.tokenId))).toBeGreaterThanOrEqual(allLapsedMs - 5); // nor if somebody else was first
  });

  it('of an account waits too: suspending, and deleting', async () => {
    const path = `/operator/accounts/${us.accountId}`;
    const become = (status: string) => timed(() => here.call('PATCH', path, operators, { status }));
    expect(await become('suspended')).toBeGreaterThanOrEqual(allLapsedMs - 5);
    expect(await become('active')).toBeLessThan(allLapsedMs);
    const remove = () =>
      here.call('POST', `${path}/deletion`, operators, { name: 'Acme Insurance' });
    expect(await timed(remove)).toBeGreaterThanOrEqual(allLapsedMs - 5);
    expect((await vehicles()).status).toBe(403);
  });

  it('of an ingest key waits for nobody, and of any without replicas', async () => {
    const ingest = "select id from tokens where account_id = ? and scope = 'ingest'";
    const id = await value<string>(ingest, us.accountId);
    const unreplicated = () => operator.delete(`/operator/tokens/${us.tokenId}`);
    for (const work of [() => revoke(id), unreplicated])
      expect(await timed(work)).toBeLessThan(allLapsedMs);
  });
});
