import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { connectorOf, connectors } from '#src/extras/providers/registry.ts';
import {
  samsara,
  samsaraOrigin,
  samsaraToken as token,
} from '#test/extras/providers/fleets/samsara.ts';
import { connect, pullAll, pullRun, read } from '#test/extras/providers/support.ts';
import {
  ownRows,
  type Page,
  personBefore,
  receiver,
  rows,
  watchedOn,
  worldBefore,
} from '#test/support.ts';

const list = '/portal/connections';
const add = `${list}/new`;
const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let hooks: ReturnType<typeof receiver>;
let provider: ReturnType<typeof samsara>;
beforeEach(() => {
  hooks = receiver();
  provider = samsara(hooks);
});

const pulls = () => ownRows(us, 'pulls');

/** Fills in the form, and sends it. */
const submit = async (typed: Parameters<Page['press']>[1] = {}) =>
  (await ann.page(`${add}?provider=samsara`)).press('Test and connect', {
    'API token': token,
    Name: 'Harbor',
    History: 'None',
    ...typed,
  });

describe('adding a connection', () => {
  it('leads from the list to the providers, with what each needs', async () => {
    expect((await ann.page('/portal/connections')).links('Add a connection')).toContain(add);
    const choose = await ann.page(add);
    for (const { name } of connectors) expect(choose.text).toContain(name);
    const { text } = await ann.page(`${add}?provider=samsara`);
    const { where = '', scopes = [] } = connectorOf('samsara')?.credential ?? {};
    for (const needed of [where, ...scopes]) expect(text).toContain(needed);
    expect(await ann.textAt(`${add}?provider=terminal`)).toMatch(/ Secret key .* Connection token/);
  });

  it('connects with the name and the history that were chosen, and says so', async () => {
    const { status, text, path } = await submit({ History: '30 days' });
    expect(status).toBe(303);
    expect(text).toMatch(/“Harbor” is connected. Its last 30 days .*Samsara, “Acme Trucking”/);
    const id = path.split('/').at(-1) ?? '';
    const [pull] = await pulls();
    expect(pull).toMatchObject({ connection_id: id, history_days: 30, base_url: samsaraOrigin });
    expect(JSON.stringify(pull)).not.toContain(token);
    await pullAll(id);
    expect(await ann.textAt(path)).toContain('Healthy');
  });

  it('takes the organization’s name if none was chosen, made printable', async () => {
    provider.data.organisation = `\u0007Acme \u202E${'x'.repeat(300)}`;
    expect((await submit({ Name: '' })).text).toMatch(/“Acme {1,2}x+” is connected/);
    const [{ organisation } = { organisation: '' }] = await pulls();
    expect(String(organisation).length).toBeLessThanOrEqual(200);
  });

  it('says once what the provider has against the credential', async () => {
    const { status, html, errors, form } = await submit({ 'API token': 'samsara_api_wrong' });
    expect([status, Object.keys(errors)]).toEqual([400, ['credential']]);
    expect(html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(html).toContain('aria-describedby="credential-hint credential-error"');
    expect(html).not.toContain('samsara_api_wrong');
    expect(form().values('Name')).toEqual(['Harbor']);
  });

  it.each([
    ['API token', ' ', { credential: 'is required' }],
    ['Name', ' ', { name: 'must not be empty' }],
  ])('says what is wrong with the %s', async (label, typed, errors) => {
    expect(await submit({ [label]: typed })).toMatchObject({ status: 400, errors });
  });

  it.each([
    ['historyDays', ['-1', '1.5', '366', 'many', '']],
    ['region', ['https://10.0.0.1/', 'nowhere']],
  ])('takes no other %s than it offers', async (name, values) => {
    for (const value of values) {
      const fields = { credential: token, region: '', name: 'Harbor', historyDays: '0' };
      const reply = await ann.post(`${add}?provider=samsara`, { ...fields, [name]: value });
      expect(reply.status).toBe(400);
      expect(await reply.text()).toContain(`${name}-error`);
    }
    expect(await pulls()).toEqual([]);
  });

  it('calls the region that is chosen, and takes each credential once', async () => {
    const european = { ...provider.data, organisation: 'Acme Europe' };
    hooks.serves('https://api.eu.samsara.com', fakeSamsara(european));
    const Region = 'Europe (api.eu.samsara.com)';
    expect((await submit({ Region })).text).toContain('“Acme Europe”');
    expect(provider.calls).toEqual([]);
    const again = await submit({ Region, Name: 'Again' });
    expect(again.text).toContain('has a connection with this credential already');
  });

  it('limits how often a provider is asked', async () => {
    const wrong = { 'API token': 'samsara_api_wrong' };
    const replies = await Promise.all(Array.from({ length: 21 }, () => submit(wrong)));
    expect(replies.map(({ status }) => status)).toContain(429);
    expect(provider.calls.length).toBeLessThan(21);
  });

  it('asks for the parts of a credential, and brings back those that are no secret', async () => {
    const form = await ann.page(`${add}?provider=geotab`);
    const typed = { Server: '', Database: 'acme', User: '', Password: 's3cret' };
    const missing = await form.press('Test and connect', typed); // but its server, which has a usual one
    expect(missing.errors).toEqual({ 'credential.user': 'is required' });
    const wrong = { ...typed, User: 'ann', Server: 'no server' };
    const refused = await form.press('Test and connect', wrong);
    expect(Object.keys(refused.errors)).toEqual(['credential.password']); // what is wrong with all of it
    expect(['Server', 'User'].flatMap(refused.form().values)).toEqual(['no server', 'ann']);
    expect(refused.html).not.toContain('s3cret');
  });
});

describe('a connection that pulls', () => {
  let id: string;
  let path: string;
  beforeEach(async () => {
    id = await connect(us, 'samsara', token, { historyDays: 30, name: 'Harbor' });
    path = `${list}/${id}`;
  });

  it('shows feeds, how far their history is, and what was refused or has no type', async () => {
    const { vehicles, events } = provider.data;
    vehicles.push(samsaraVehicle(3, { make: 7 }));
    events.push(samsaraEvent(samsaraVehicle(1), 'NeverHeardOf', Date.now() - 3_600_000));
    await pullRun(id);
    await rows(
      `update pulls set feeds = json_set(feeds, '$.events.history', json_object('cursor', null,
         'records', 1200, 'beganAt', ?1, 'to', connected_at - 15 * 86400000))`,
      Date.now() - 60_000,
    );
    const page = await ann.textAt(path);
    expect(page).toMatch(
      /Safety events and accidents .*50% of 30 days 1,200 records, [\d,]+ a minute, about 1 min/,
    );
    for (const said of [
      'Vehicles Working None: the provider only has the current state.',
      'make must be a string',
      'NeverHeardOf 1',
      'Loading history',
    ])
      expect(page).toContain(said);
    expect(await ann.textAt(list)).toMatch(/Harbor Samsara Loading history \d+% of 30 days/);
    await pullAll(id);
    expect(await ann.textAt(path)).toMatch(/All 30 days, [\d,]+ records/);
    expect(await ann.textAt(list)).toContain('Harbor Samsara Healthy');
  });

  it('says that the provider refuses the credential, and goes on with another', async () => {
    provider.data.token = 'samsara_api_made_up_2';
    await pullRun(id);
    for (const where of [path, list])
      expect(await ann.textAt(where)).toMatch(
        /API token refused .*these permissions: Read Vehicles.* Replace the API token/,
      );
    expect(await ann.textAt('/portal')).toContain(
      'Samsara refuses the credential of connection “Harbor”',
    );
    const form = await ann.page(`${path}/credential`);
    const refused = await form.press('Test and replace', { 'API token': 'samsara_api_wrong' });
    expect(refused.html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(refused.html).not.toContain('samsara_api_wrong');
    const accepted = await refused.press('Test and replace', { 'API token': provider.data.token });
    expect(accepted.text).toContain('Samsara accepts the new API token of “Acme Trucking”');
    await pullAll(id);
    expect(await ann.textAt(path)).toContain('Healthy');
  });

  it('warns of a new credential that is of another organization', async () => {
    Object.assign(provider.data, { organisation: 'Somebody else', organisationId: '1' });
    const said = await ann.outcome(`${path}/credential`, { credential: token });
    expect(said).toContain('The previous one belonged to “Acme Trucking”');
  });

  it('names the feeds that fail, with what to do about it', async () => {
    provider.fault = ({ pathname }) =>
      pathname === '/trips/stream' ? Response.json({}, { status: 403 }) : undefined;
    await pullRun(id);
    expect(await ann.textAt(path)).toMatch(
      /Degraded.*Late or missing: trips\..*Trips Failing .*these permissions: .* Next try at/,
    );
  });

  it('is paused, resumed, and pulled now', async () => {
    await pullAll(id);
    const paused = await (await ann.page(path)).press('Pause');
    expect(paused.text).toContain('“Harbor” is paused.');
    provider.data.vehicles.push(samsaraVehicle(9, { updatedAtTime: new Date().toISOString() }));
    expect(await ann.textAt(list)).toMatch(/Harbor Samsara Paused/);
    expect(await ann.outcome(`${path}/pull`)).toContain('or is paused');
    const resumed = await paused.press('Resume');
    expect(resumed.text).toContain('“Harbor” is pulled again');
    expect((await resumed.press('Pull now')).text).toContain('“Harbor” is being pulled now.');
    const vehicles = () => read(us, id, '/vehicles');
    await expect.poll(vehicles).toHaveLength(3);
    const noted = await rows('select fields from audit_log where subject_id = ?1 order by seq', id);
    expect(noted.map(({ fields }) => fields)).toEqual(['[]', '["paused"]', '["resumed"]']);
  });

  it('shows where its provider is to call, and keeps the secret of that to itself', async () => {
    const page = await ann.page(path);
    const steps = connectorOf('samsara')?.webhook?.steps ?? [];
    const url = `https://portal.example.com/providers/${id}/webhook`;
    for (const said of [url, ...steps, 'Not set up']) expect(page.text).toContain(said);
    const refused = await page.press('Save secret', { Secret: 'short' });
    expect(refused.errors).toEqual({ secret: 'must be one word of 8 to 500 characters' });
    const saved = await refused.press('Save secret', { Secret: 'c2VjcmV0c2VjcmV0' });
    expect(saved.text).toMatch(/The secret was saved\..*Secret set/);
    expect((await ann.page(path)).html).not.toContain('c2VjcmV0c2VjcmV0');
  });

  it('is removed with its data by its name alone', async () => {
    const question = await ann.page(`${path}/remove`);
    const press = (name: string) =>
      question.press('Remove this connection', { 'Type “Harbor” to confirm': name });
    const wrong = await press('Harbour');
    expect(wrong.errors.typed).toContain('The name does not match');
    expect((await press('Harbor')).text).toContain('“Harbor” was removed.');
    expect((await ann.get(path)).status).toBe(404);
    expect(await pulls()).toEqual([]);
  });

  it('is one that pulls', async () => {
    const other = `${list}/${us.connection.id}`;
    const fields = { name: 'Harbor', credential: token, secret: 'c2VjcmV0c2VjcmV0' };
    for (const what of ['pull', 'pause', 'resume', 'webhook-secret', 'credential'])
      expect((await ann.post(`${other}/${what}`, fields)).status).toBe(404);
    expect(await ann.textAt(other)).not.toContain('Data pulled');
  });

  it('tells an open page of each step of its history', async () => {
    await pullAll(id); // nothing else is to be told
    const [versionUrl, shown] = await watchedOn(await ann.get(path));
    const version = async () =>
      (await (await ann.get(versionUrl)).json<{ version: string }>()).version;
    expect(await version()).toBe(shown);
    await rows('update connections set last_pulled_at = ?1 where id = ?2', Date.now() + 1, id);
    expect(await version()).not.toBe(shown);
  });
});
