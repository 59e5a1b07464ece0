import { fakeSamsara } from '#src/dev/fakes/samsara.ts';
import { connectorOf, connectors } from '#src/extras/providers/registry.ts';
import { type Page, personBefore } from '#test/support/portal.ts';
import { pullAll } from '#test/support/provider.ts';
import { samsara, samsaraOrigin, samsaraToken as token } from '#test/support/providers/samsara.ts';
import { receiver } from '#test/support/receiver.ts';
import { rows } from '#test/support/rows.ts';
import { worldBefore } from '#test/support/world.ts';

const add = '/portal/connections/new';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let hooks: ReturnType<typeof receiver>;
let provider: ReturnType<typeof samsara>;
beforeEach(() => {
  hooks = receiver();
  provider = samsara(hooks);
});

const pulls = () => rows('select * from pulls where account_id = ?1', us.accountId);

/** Fills in the form, and sends it. */
const connect = async (typed: Parameters<Page['press']>[1] = {}) =>
  (await ann.page(`${add}?provider=samsara`)).press('Test and connect', {
    ...{ 'API token': token, Name: 'Harbor', History: 'None', ...typed },
  });

describe('adding a connection', () => {
  it('leads from the list to the providers, with what each needs', async () => {
    expect((await ann.page('/portal/connections')).links('Add a connection')).toContain(add);
    const choose = await ann.page(add);
    for (const { name } of connectors) expect(choose.text).toContain(name);
    const { text } = await ann.page(`${add}?provider=samsara`);
    const scopes = connectorOf('samsara')?.credential.scopes ?? [];
    for (const needed of ['Settings → API Tokens → Add an API Token', ...scopes])
      expect(text).toContain(needed);
    expect(await ann.textAt(`${add}?provider=terminal`)).toMatch(
      /Enter the secret key and connection token .* Secret key .* Connection token/,
    );
  });

  it('connects with the name and the history that were chosen, and says so', async () => {
    const { status, text, path } = await connect({ History: '30 days' });
    expect(status).toBe(303);
    expect(text).toMatch(
      /“Harbor” is connected. Its last 30 days are being loaded.*Samsara, “Acme Trucking”/,
    );
    const id = path.split('/').at(-1) ?? '';
    expect(await pulls()).toMatchObject([
      { connection_id: id, history_days: 30, base_url: samsaraOrigin },
    ]);
    expect(JSON.stringify(await pulls())).not.toContain(token);
    await pullAll(id);
    expect(await ann.textAt(path)).toContain('Healthy');
  });

  it('takes the organization’s name if none was chosen, made printable', async () => {
    provider.data.organisation = `\u0007Acme \u202E${'x'.repeat(300)}`;
    expect((await connect({ Name: '' })).text).toMatch(/“Acme {1,2}x+” is connected/);
    const [{ organisation } = { organisation: '' }] = await pulls();
    expect(String(organisation).length).toBeLessThanOrEqual(200);
  });

  it('says once what the provider has against the credential, and saves nothing', async () => {
    const { status, html, errors, form } = await connect({ 'API token': 'samsara_api_wrong' });
    expect([status, Object.keys(errors)]).toEqual([400, ['credential']]);
    expect(html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(html).toContain('aria-describedby="credential-hint credential-error"');
    expect(html).not.toContain('samsara_api_wrong');
    expect(form().values('Name')).toEqual(['Harbor']);
    expect(await pulls()).toEqual([]);
  });

  it.each([
    ['API token', ' ', { credential: 'is required' }],
    ['Name', ' ', { name: 'must not be empty' }],
  ])('says what is wrong with the %s', async (label, typed, errors) => {
    expect(await connect({ [label]: typed })).toMatchObject({ status: 400, errors });
    expect(await pulls()).toEqual([]);
  });

  it.each([
    ['historyDays', ['-1', '1.5', '366', 'many', '']],
    ['region', ['https://10.0.0.1/', 'nowhere']],
  ])('takes no other %s than it offers', async (name, values) => {
    for (const value of values) {
      const fields = {
        credential: token,
        region: '',
        name: 'Harbor',
        historyDays: '0',
        [name]: value,
      };
      const reply = await ann.post(`${add}?provider=samsara`, fields);
      expect([reply.status, await reply.text()]).toEqual([
        400,
        expect.stringContaining(`${name}-error`),
      ]);
    }
    expect(await pulls()).toEqual([]);
  });

  it('calls the region that is chosen, and takes each credential once', async () => {
    hooks.serves(
      'https://api.eu.samsara.com',
      fakeSamsara({ ...provider.data, organisation: 'Acme Europe' }),
    );
    const Region = 'Europe (api.eu.samsara.com)';
    expect((await connect({ Region })).text).toContain('“Acme Europe”');
    expect(provider.calls).toEqual([]);
    expect((await connect({ Region, Name: 'Again' })).text).toContain(
      'This account has a connection with this credential already',
    );
  });

  it('limits how often a provider is asked', async () => {
    const wrong = { 'API token': 'samsara_api_wrong' };
    const statuses = await Promise.all(
      Array.from({ length: 21 }, async () => (await connect(wrong)).status),
    );
    expect(statuses).toContain(429);
    expect(provider.calls.length).toBeLessThan(21);
  });

  it('asks for the parts of a credential, and brings back those that are no secret', async () => {
    const form = await ann.page(`${add}?provider=geotab`);
    const typed = { Server: 'my.example.com', Database: 'acme', User: '', Password: 's3cret' };
    const missing = await form.press('Test and connect', { ...typed, Server: '' }); // which has a usual one
    expect(missing.errors).toEqual({ 'credential.user': 'is required' });
    const refused = await form.press('Test and connect', {
      ...typed,
      User: 'ann',
      Server: 'no server',
    });
    expect(Object.keys(refused.errors)).toEqual(['credential.password']); // what is wrong with all of it
    expect(['Server', 'User'].flatMap(refused.form().values)).toEqual(['no server', 'ann']);
    expect(refused.html).not.toContain('s3cret');
  });
});
