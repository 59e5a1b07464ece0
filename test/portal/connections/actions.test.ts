import { beforeEach, describe, expect, it, vi } from 'vitest';
import { samsaraEvent, samsaraVehicle } from '../../../src/dev/fakes/samsara.ts';
import { connectorOf } from '../../../src/providers/registry.ts';
import { signIn, visitor, watchedOn } from '../../support/portal.ts';
import { connect, pullAll, pullRun, read } from '../../support/provider.ts';
import { samsara, samsaraToken as token } from '../../support/providers/samsara.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { type World, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach);
let cookie: string;
let provider: ReturnType<typeof samsara>;
let id: string;
let path: string;

beforeEach(async () => {
  provider = samsara(receiver());
  cookie = (await signIn(us)).cookie;
  id = await connect(us, 'samsara', token, { historyDays: 30, name: 'Harbor' });
  path = pathOf(id);
});

const { get, post, html: htmlAt, textAt, outcome } = visitor(() => cookie);
const pullsOf = ({ accountId }: World) => rows('select * from pulls where account_id = ?1', accountId);
const pathOf = (id: string) => `/portal/connections/${id}`;

describe('a connection that pulls', () => {
  it('shows each feed, how far its history has come, and what was refused or has no type', async () => {
    const [truck] = provider.data.vehicles;
    if (!truck) throw new Error('no truck');
    provider.data.vehicles.push(samsaraVehicle(3, { make: 7 }));
    provider.data.events.push(samsaraEvent(truck, 'NeverHeardOf', Date.now() - 3_600_000));
    await pullRun(id);
    const history = { cursor: null, records: 1200, beganAt: Date.now() - 60_000 };
    await rows(
      `update pulls set feeds = json_set(feeds, '$.events.history',
         json_set(?1, '$.to', connected_at - 15 * 86400000)) where connection_id = ?2`,
      JSON.stringify(history),
      id,
    );
    const page = await textAt(path);
    expect(page).toMatch(
      /Safety events and accidents .*50% of 30 days 1,200 records, [\d,]+ a minute, about 1 min/,
    );
    expect(page).toContain('Vehicles Working None: the provider only has the current state.');
    expect(page).toContain('make must be a string');
    expect(page).toContain('NeverHeardOf 1');
    expect(page).toContain('Loading history');
    expect(await textAt('/portal/connections')).toMatch(/Harbor Samsara Loading history \d+% of 30 days\./);
    await pullAll(id);
    expect(await textAt(path)).toMatch(/All 30 days, [\d,]+ records/);
    expect(await textAt('/portal/connections')).toMatch(/Harbor Samsara Healthy (just now|\d+ seconds ago)/);
  });

  it('says in plain words that the provider refuses the credential, and goes on with another', async () => {
    await pullAll(id);
    const history = () =>
      rows("select refused_at, feeds->'$.trips.history' as trips from pulls where connection_id = ?1", id);
    const loaded = await history();
    provider.data.token = 'samsara_api_made_up_2';
    await pullRun(id);
    for (const where of [path, '/portal/connections']) {
      const page = await textAt(where);
      expect(page).toContain('API token refused');
      expect(page).toContain(
        'Samsara refuses the API token. Create a new one with these permissions: Read Vehicles',
      );
      expect(page).toContain('Replace the API token');
    }
    expect(await textAt('/portal')).toContain(
      'Samsara refuses the credential of connection “Harbor” Nothing is pulled until its credential is replaced.',
    );
    const form = `${path}/credential`;
    expect(await textAt(form)).toContain('Replace the API token');
    const refused = await post(form, { credential: 'samsara_api_wrong' });
    expect(refused.status).toBe(400);
    const html = await refused.text();
    expect(html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(html).not.toContain('samsara_api_wrong');
    expect(await outcome(form, { credential: provider.data.token })).toContain(
      'Samsara accepts the new API token of “Acme Trucking”. Pulling continues.',
    );
    await pullAll(id);
    expect(await textAt(path)).toContain('Healthy');
    expect(await history()).toEqual(loaded);
  });

  it('warns of a new credential that is of another organization', async () => {
    Object.assign(provider.data, { organisation: 'Somebody else', organisationId: '1' });
    const said = await outcome(`${path}/credential`, { credential: token });
    expect(said).toContain('The previous one belonged to “Acme Trucking”');
  });

  it('names the feeds that fail, with what to do about it', async () => {
    await pullAll(id);
    provider.fault = (called) =>
      called === '/trips/stream' ? Response.json({ message: 'Forbidden' }, { status: 403 }) : undefined;
    await pullRun(id);
    const page = await textAt(path);
    expect(page).toContain('Degraded');
    expect(page).toContain('Late or missing: trips.');
    expect(page).toMatch(
      /Trips Failing The API token may not read this\. It needs these permissions: .* Next try at/,
    );
  });

  it('is paused, resumed, and pulled now', async () => {
    await pullAll(id);
    expect(await outcome(`${path}/pause`)).toContain('“Harbor” is paused.');
    provider.data.vehicles.push(samsaraVehicle(9, { updatedAtTime: new Date().toISOString() }));
    expect(await textAt(path)).toContain('Paused');
    expect(await textAt('/portal/connections')).toMatch(/Harbor Samsara Paused/);
    expect(await outcome(`${path}/pull`)).toContain('does not pull from a provider, or is paused');
    expect(await outcome(`${path}/resume`)).toContain('“Harbor” is pulled again');
    expect(await outcome(`${path}/pull`)).toContain('“Harbor” is being pulled now.');
    await vi.waitFor(async () => expect(await read(us, id, '/vehicles')).toHaveLength(3), {
      timeout: 10_000,
    });
    const noted = await rows('select action, fields from audit_log where subject_id = ?1 order by seq', id);
    expect(noted.map(({ action, fields }) => `${action} ${fields}`)).toEqual([
      'created []',
      'changed ["paused"]',
      'changed ["resumed"]',
    ]);
  });

  it('shows where its provider is to call, and keeps the secret of that to itself', async () => {
    const page = await htmlAt(path);
    expect(page).toContain(`https://portal.example.com/providers/${id}/webhook`);
    for (const step of connectorOf('samsara')?.webhook?.steps ?? []) expect(page).toContain(step);
    expect(page).toContain('Not set up');
    const refused = await post(`${path}/webhook-secret`, { secret: 'short' });
    expect(refused.status).toBe(400);
    expect((await refused.text()).match(/must be one word of 8 to 500 characters/g)).toHaveLength(1);
    const said = await outcome(`${path}/webhook-secret`, { secret: 'c2VjcmV0c2VjcmV0' });
    expect(said).toContain('The secret was saved.');
    expect(said).toContain('Secret set');
    expect(await htmlAt(path)).not.toContain('c2VjcmV0c2VjcmV0');
  });

  it('is removed with its data by its name alone', async () => {
    await pullAll(id);
    const form = `${path}/remove`;
    expect(await textAt(form)).toContain('This cannot be undone.');
    const wrong = await post(form, { typed: 'Harbour' });
    expect(wrong.status).toBe(400);
    expect((await wrong.text()).match(/The name does not match/g)).toHaveLength(1);
    expect(await outcome(form, { typed: 'Harbor' })).toContain('“Harbor” was removed.');
    expect((await get(path)).status).toBe(404);
    expect(await pullsOf(us)).toEqual([]);
  });

  it('is one that pulls', async () => {
    for (const what of ['pull', 'pause', 'resume', 'webhook-secret', 'credential', 'remove']) {
      const fields = { name: 'Harbor', credential: token, secret: 'c2VjcmV0c2VjcmV0' };
      expect((await post(`${pathOf(us.connection.id)}/${what}`, fields)).status).toBe(404);
    }
    expect(await textAt(pathOf(us.connection.id))).not.toContain('Data pulled');
  });

  it('tells an open page of each step of its history', async () => {
    const [tick, shown] = await watchedOn(await get(path));
    const version = async () => (await (await get(tick)).json<{ version: string }>()).version;
    expect(await version()).toBe(shown);
    await rows('update connections set last_pulled_at = ?1 where id = ?2', Date.now() + 1, id);
    expect(await version()).not.toBe(shown);
  });
});
