import { samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { connectorOf } from '#src/extras/providers/registry.ts';
import { personBefore, watchedOn } from '#test/support/portal.ts';
import { connect, pullAll, pullRun, read } from '#test/support/provider.ts';
import { samsara, samsaraToken as token } from '#test/support/providers/samsara.ts';
import { receiver } from '#test/support/receiver.ts';
import { rows } from '#test/support/rows.ts';
import { worldBefore } from '#test/support/world.ts';

const list = '/portal/connections';
const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let provider: ReturnType<typeof samsara>;
let id: string;
let path: string;

beforeEach(async () => {
  provider = samsara(receiver());
  id = await connect(us, 'samsara', token, { historyDays: 30, name: 'Harbor' });
  path = `${list}/${id}`;
});

describe('a connection that pulls', () => {
  it('shows feeds, how far their history is, and what was refused or has no type', async () => {
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
    const page = await ann.textAt(path);
    expect(page).toMatch(
      /Safety events and accidents .*50% of 30 days 1,200 records, [\d,]+ a minute, about 1 min/,
    );
    for (const said of [
      'Vehicles Working None: the provider only has the current state.',
      ...['make must be a string', 'NeverHeardOf 1', 'Loading history'],
    ])
      expect(page).toContain(said);
    expect(await ann.textAt(list)).toMatch(/Harbor Samsara Loading history \d+% of 30 days\./);
    await pullAll(id);
    expect(await ann.textAt(path)).toMatch(/All 30 days, [\d,]+ records/);
    expect(await ann.textAt(list)).toMatch(/Harbor Samsara Healthy (just now|\d+ seconds ago)/);
  });

  it('says that the provider refuses the credential, and goes on with another', async () => {
    await pullAll(id);
    const history = () =>
      rows(
        "select refused_at, feeds->'$.trips.history' as trips from pulls where connection_id = ?1",
        id,
      );
    const loaded = await history();
    provider.data.token = 'samsara_api_made_up_2';
    await pullRun(id);
    for (const where of [path, list])
      expect(await ann.textAt(where)).toMatch(
        /API token refused .*Samsara refuses the API token. Create a new one with these permissions: Read Vehicles.* Replace the API token/,
      );
    expect(await ann.textAt('/portal')).toContain(
      'Samsara refuses the credential of connection “Harbor” Nothing is pulled until its credential is replaced.',
    );
    const form = await ann.page(`${path}/credential`);
    const refused = await form.press('Test and replace', { 'API token': 'samsara_api_wrong' });
    expect(refused.status).toBe(400);
    expect(refused.html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(refused.html).not.toContain('samsara_api_wrong');
    const accepted = await refused.press('Test and replace', { 'API token': provider.data.token });
    expect(accepted.text).toContain(
      'Samsara accepts the new API token of “Acme Trucking”. Pulling continues.',
    );
    await pullAll(id);
    expect(await ann.textAt(path)).toContain('Healthy');
    expect(await history()).toEqual(loaded);
  });

  it('warns of a new credential that is of another organization', async () => {
    Object.assign(provider.data, { organisation: 'Somebody else', organisationId: '1' });
    const said = await ann.outcome(`${path}/credential`, { credential: token });
    expect(said).toContain('The previous one belonged to “Acme Trucking”');
  });

  it('names the feeds that fail, with what to do about it', async () => {
    await pullAll(id);
    provider.fault = (called) =>
      called === '/trips/stream'
        ? Response.json({ message: 'Forbidden' }, { status: 403 })
        : undefined;
    await pullRun(id);
    expect(await ann.textAt(path)).toMatch(
      /Degraded.*Late or missing: trips\..*Trips Failing The API token may not read this\. It needs these permissions: .* Next try at/,
    );
  });

  it('is paused, resumed, and pulled now', async () => {
    await pullAll(id);
    const paused = await (await ann.page(path)).press('Pause');
    expect(paused.text).toContain('“Harbor” is paused.');
    provider.data.vehicles.push(samsaraVehicle(9, { updatedAtTime: new Date().toISOString() }));
    expect(await ann.textAt(list)).toMatch(/Harbor Samsara Paused/);
    expect(await ann.outcome(`${path}/pull`)).toContain(
      'does not pull from a provider, or is paused',
    );
    const resumed = await paused.press('Resume');
    expect(resumed.text).toContain('“Harbor” is pulled again');
    expect((await resumed.press('Pull now')).text).toContain('“Harbor” is being pulled now.');
    const vehicles = async () => expect(await read(us, id, '/vehicles')).toHaveLength(3);
    await vi.waitFor(vehicles, { timeout: 10_000 });
    const noted = await rows(
      'select action, fields from audit_log where subject_id = ?1 order by seq',
      id,
    );
    expect(noted.map(({ action, fields }) => `${action} ${fields}`)).toEqual([
      'created []',
      'changed ["paused"]',
      'changed ["resumed"]',
    ]);
  });

  it('shows where its provider is to call, and keeps the secret of that to itself', async () => {
    const page = await ann.page(path);
    const steps = connectorOf('samsara')?.webhook?.steps ?? [];
    for (const said of [
      `https://portal.example.com/providers/${id}/webhook`,
      ...steps,
      'Not set up',
    ])
      expect(page.text).toContain(said);
    const refused = await page.press('Save secret', { Secret: 'short' });
    expect([refused.status, Object.keys(refused.errors)]).toEqual([400, ['secret']]);
    expect(refused.html.match(/must be one word of 8 to 500 characters/g)).toHaveLength(1);
    const saved = await refused.press('Save secret', { Secret: 'c2VjcmV0c2VjcmV0' });
    expect(saved.text).toMatch(/The secret was saved\..*Secret set/);
    expect((await ann.page(path)).html).not.toContain('c2VjcmV0c2VjcmV0');
  });

  it('is removed with its data by its name alone', async () => {
    await pullAll(id);
    const question = await ann.page(`${path}/remove`);
    expect(question.text).toContain('This cannot be undone.');
    const press = (name: string) =>
      question.press('Remove this connection', { 'Type “Harbor” to confirm': name });
    const wrong = await press('Harbour');
    expect(wrong.errors.typed).toContain('The name does not match');
    expect((await press('Harbor')).text).toContain('“Harbor” was removed.');
    expect((await ann.get(path)).status).toBe(404);
    expect(await rows('select * from pulls where account_id = ?1', us.accountId)).toEqual([]);
  });

  it('is one that pulls', async () => {
    const other = `${list}/${us.connection.id}`;
    const fields = { name: 'Harbor', credential: token, secret: 'c2VjcmV0c2VjcmV0' };
    for (const what of ['pull', 'pause', 'resume', 'webhook-secret', 'credential'])
      expect((await ann.post(`${other}/${what}`, fields)).status).toBe(404);
    expect(await ann.textAt(other)).not.toContain('Data pulled');
  });

  it('tells an open page of each step of its history', async () => {
    const [versionUrl, shown] = await watchedOn(await ann.get(path));
    const version = async () =>
      (await (await ann.get(versionUrl)).json<{ version: string }>()).version;
    expect(await version()).toBe(shown);
    await rows('update connections set last_pulled_at = ?1 where id = ?2', Date.now() + 1, id);
    expect(await version()).not.toBe(shown);
  });
});
