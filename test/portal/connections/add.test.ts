import { beforeEach, describe, expect, it } from 'vitest';
import { fakeSamsara } from '../../../src/dev/fakes/samsara.ts';
import { connectorOf, connectors } from '../../../src/providers/registry.ts';
import { ask, follow, signIn, visitor } from '../../support/portal.ts';
import { pullAll } from '../../support/provider.ts';
import { samsara, samsaraOrigin, samsaraToken as token } from '../../support/providers/samsara.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { world, worldBefore } from '../../support/world.ts';

const add = '/portal/connections/new?provider=samsara';

const us = worldBefore(beforeEach);
let cookie: string;
let hooks: ReturnType<typeof receiver>;
let provider: ReturnType<typeof samsara>;

beforeEach(async () => {
  hooks = receiver();
  provider = samsara(hooks);
  cookie = (await signIn(us)).cookie;
});

const { post, html: htmlAt, textAt } = visitor(() => cookie);
const pulls = () => rows('select * from pulls where account_id = ?1', us.accountId);

/** Sends the form. */
const connect = (fields: Record<string, string> = {}) =>
  post(add, { credential: token, region: '', name: 'Harbor', historyDays: '0', ...fields });
/** The page that the form leads to if something in it is wrong. */
async function refused(fields: Record<string, string>): Promise<string> {
  const reply = await connect(fields);
  expect(reply.status).toBe(400);
  return reply.text();
}

describe('adding a connection', () => {
  it('leads from the list and the checklist to the providers, with what each needs', async () => {
    const { cookie: newcomer } = await signIn(await world());
    for (const path of ['/portal', '/portal/connections'])
      expect(await (await ask('GET', path, { cookie: newcomer })).text()).toContain('"/portal/connections');
    expect(await htmlAt('/portal/connections')).toContain('href="/portal/connections/new"');
    const choose = await textAt('/portal/connections/new');
    for (const { name } of connectors) expect(choose).toContain(name);
    const page = await textAt(add);
    expect(page).toContain('Settings → API Tokens → Add an API Token');
    for (const scope of connectorOf('samsara')?.credential.scopes ?? []) expect(page).toContain(scope);
    const parts = await textAt('/portal/connections/new?provider=terminal');
    expect(parts).toMatch(/Enter the secret key and connection token .* Secret key .* Connection token/);
  });

  it('connects with the name and the history that were chosen, and says so on the new page', async () => {
    const reply = await connect({ historyDays: '30' });
    expect(reply.status).toBe(303);
    const page = await follow(reply, cookie);
    expect(page).toContain('“Harbor” is connected. Its last 30 days are being loaded');
    expect(page).toContain('Samsara, “Acme Trucking”');
    const path = reply.headers.get('location') ?? '';
    const id = path.split('/').at(-1) ?? '';
    expect(await pulls()).toMatchObject([{ connection_id: id, history_days: 30, base_url: samsaraOrigin }]);
    expect(JSON.stringify(await pulls())).not.toContain(token);
    await pullAll(id);
    expect(await textAt(path)).toContain('Healthy');
  });

  it('takes the organization’s name if none was chosen, as one that people may have chosen', async () => {
    provider.data.organisation = `\u0007Acme \u202E${'x'.repeat(300)}`;
    expect(await follow(await connect({ name: '' }), cookie)).toMatch(/“Acme {1,2}x+” is connected/);
    const [{ organisation } = { organisation: '' }] = await pulls();
    expect(String(organisation).length).toBeLessThanOrEqual(200);
  });

  it('says once, under the field, what the provider has against the credential, and saves nothing', async () => {
    const html = await refused({ credential: 'samsara_api_wrong' });
    expect(html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(html).toContain('aria-describedby="credential-hint credential-error"');
    expect(html).not.toContain('samsara_api_wrong');
    expect(html).toContain('value="Harbor"');
    expect((await refused({ credential: ' ' })).match(/is required/g)).toHaveLength(1);
    expect(await refused({ credential: 'a'.repeat(4001) })).toContain('can be at most 4,000 characters');
    expect(await pulls()).toEqual([]);
  });

  it('says what is wrong with the name, the history or the region', async () => {
    expect((await refused({ name: ' ' })).match(/must not be empty/g)).toHaveLength(1);
    for (const historyDays of ['-1', '1.5', '366', 'many', ''])
      expect(await refused({ historyDays })).toContain('historyDays-error');
    // What a server of the fleet's own reports would come as the provider's.
    for (const region of ['https://10.0.0.1/', 'https://fleet.example.com', 'nowhere'])
      expect(await refused({ region })).toContain('id="region-error"');
    expect(await pulls()).toEqual([]);
  });

  it('calls the region that is chosen, and takes each credential once', async () => {
    hooks.serves(
      'https://api.eu.samsara.com',
      fakeSamsara({ ...provider.data, organisation: 'Acme Europe' }),
    );
    expect(await follow(await connect({ region: 'eu' }), cookie)).toContain('“Acme Europe”');
    expect(provider.calls).toEqual([]);
    expect(await refused({ region: 'eu', name: 'Again' })).toContain(
      'This account has a connection with this credential already',
    );
  });

  it('limits how often a provider is asked', async () => {
    const wrong = { credential: 'samsara_api_wrong' };
    const statuses = await Promise.all(Array.from({ length: 21 }, async () => (await connect(wrong)).status));
    expect(statuses).toContain(429);
    expect(provider.calls.length).toBeLessThan(21);
  });

  it('asks for the parts of a credential that has parts, and brings back those that are no secret', async () => {
    const path = '/portal/connections/new?provider=geotab';
    const named = { server: 'my7.geotab.com', database: 'acme', user: 'ann', password: 's3cret' };
    const parts = Object.entries(named).map(([name, is]) => [`credential.${name}`, is]);
    const fields = { historyDays: '0', ...Object.fromEntries(parts) };
    const missing = await (await post(path, { ...fields, 'credential.user': '' })).text();
    expect(missing).toContain('id="credential.user-error"');
    expect(missing.match(/is required/g)).toHaveLength(1);
    const html = await (await post(path, { ...fields, 'credential.server': 'no server' })).text();
    expect(html).toContain('id="credential.password-error"'); // what is wrong with all of it
    expect(html).toContain('value="no server"');
    expect(html).toContain('value="ann"');
    expect(html).not.toContain('s3cret');
    for (const server of ['geotab.com.example.com', 'https://fleet.example.com', 'my.geotab.com@example.com'])
      expect(await (await post(path, { ...fields, 'credential.server': server })).text()).toContain(
        'must be a host of geotab.com',
      );
  });
});
