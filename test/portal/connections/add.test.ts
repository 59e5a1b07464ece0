import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeSamsara } from '../../../src/dev/fakes/samsara.ts';
import { connectorOf, connectors } from '../../../src/providers/registry.ts';
import { ask, follow, formOn, signIn, visitor } from '../../support/portal.ts';
import { pullAll, read } from '../../support/provider.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { samsara, samsaraOrigin, samsaraToken as token } from '../../support/samsara.ts';
import { type World, world, worldBefore } from '../../support/world.ts';

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
const pullsOf = ({ accountId }: World) => rows('select * from pulls where account_id = ?1', accountId);
const pathOf = (id: string) => `/portal/connections/${id}`;

/** Tests a credential in the form, as it is. Returns the page that follows. */
const test = async (fields: Record<string, string> = {}) => {
  const reply = await post(add, { credential: token, region: '', address: '', ...fields });
  return { status: reply.status, html: await reply.text() };
};

/** What the page of a tested credential sends along. */
const draftIn = async (html: string) => (await formOn(new Response(html))).values('draft')[0] ?? '';

const save = async (fields: Record<string, string> = {}) =>
  post(add, { draft: await draftIn((await test()).html), name: 'Harbor', historyDays: '0', ...fields });

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
    for (const scope of connectorOf('samsara')?.credential.scopes ?? [])
      expect(page).toContain(scope.replace('&', '&amp;'));
    const parts = await textAt('/portal/connections/new?provider=terminal');
    expect(parts).toMatch(/Enter the secret key and connection token .* Secret key .* Connection token/);
    expect(await textAt('/portal/connections/new?provider=other')).toContain('POST /ingest');
  });

  it('tests the credential, saves nothing, and has it in no page', async () => {
    const { status, html } = await test();
    expect(status).toBe(200);
    expect(html).toContain('“Acme Trucking”');
    expect(html).not.toContain(token);
    expect(await draftIn(html)).not.toBe('');
    expect((await formOn(new Response(html))).values('name')).toEqual(['Acme Trucking']);
    expect(await pullsOf(us)).toEqual([]);
  });

  it('takes the organization’s name as one that people may have chosen, whatever the provider sends', async () => {
    provider.data.organisation = `\u0007Acme \u202E${'x'.repeat(300)}`;
    const { html } = await test();
    const name = (await formOn(new Response(html))).values('name')[0] ?? '';
    expect(name).toMatch(/^Acme {2}x+$/);
    expect(name.length).toBeLessThanOrEqual(200);
    expect((await save({ name })).status).toBe(303);
    provider.data.organisation = '\n';
    expect((await test()).html).toContain('“Samsara”');
  });

  it('connects with the name and the history that were chosen, and says so on the new page', async () => {
    const reply = await save({ historyDays: '30' });
    expect(reply.status).toBe(303);
    const page = await follow(reply, cookie);
    expect(page).toContain('“Harbor” is connected: it is “Acme Trucking”. Its last 30 days are being loaded');
    const id = reply.headers.get('location')?.split('/').at(-1) ?? '';
    expect(await pullsOf(us)).toMatchObject([
      { connection_id: id, history_days: 30, base_url: samsaraOrigin },
    ]);
    expect(JSON.stringify(await pullsOf(us))).not.toContain(token);
    await pullAll(id);
    expect(await read(us, id, '/vehicles')).toHaveLength(2);
    expect(await textAt(pathOf(id))).toContain('Healthy');
  });

  it('says once, under the field, what the provider has against the credential', async () => {
    const { status, html } = await test({ credential: 'samsara_api_wrong' });
    expect(status).toBe(400);
    expect(html).toContain('<title>Error: Add a connection');
    expect(html.match(/Samsara refuses the API token/g)).toHaveLength(1);
    expect(html).toContain('aria-describedby="credential-hint credential-error"');
    expect(html).not.toContain('samsara_api_wrong');
    const empty = await test({ credential: ' ' });
    expect(empty.html.match(/is required/g)).toHaveLength(1);
    expect((await test({ credential: 'a'.repeat(4001) })).html).toContain('can be at most 4,000 characters');
    expect(await pullsOf(us)).toEqual([]);
  });

  it('calls the region that is chosen, or an address that is typed, and only what may be called', async () => {
    hooks.serves(
      'https://api.eu.samsara.com',
      fakeSamsara({ ...provider.data, organisation: 'Acme Europe' }),
    );
    hooks.serves(
      'https://sandbox.example.com',
      fakeSamsara({ ...provider.data, organisation: 'Acme Sandbox' }),
    );
    expect((await test({ region: 'eu' })).html).toContain('“Acme Europe”');
    const address = 'https://sandbox.example.com/';
    expect((await test({ region: 'eu', address })).html).toContain('“Acme Sandbox”');
    const refused = await test({ address: 'https://10.0.0.1/' });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('id="address-error"');
    expect(refused.html).toContain('value="https://10.0.0.1/"');
    expect((await test({ address: 'nowhere' })).html).toContain('id="address-error"');
    expect((await test({ region: 'nowhere' })).html).toContain('id="region-error"');
  });

  it('takes what was tested only from the session that has tested it, and for 15 minutes', async () => {
    const draft = await draftIn((await test()).html);
    const fields = { draft, name: 'Harbor', historyDays: '0' };
    const { cookie: colleague } = await signIn(us);
    const refused = await ask('POST', add, { cookie: colleague, fields });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('It was tested more than 15 minutes ago');
    for (const junk of ['x', '{}', draft.replace(/"data":"..../, '"data":"AAAA')])
      expect((await post(add, { ...fields, draft: junk })).status).toBe(400);
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 15 * 60_000 + 1000);
    expect((await post(add, fields)).status).toBe(400);
    clock.mockRestore();
    expect(await pullsOf(us)).toEqual([]);
    expect((await post(add, fields)).status).toBe(303);
  });

  it('keeps what was tested when only the name is wrong, and asks again when the provider has changed its mind', async () => {
    const draft = await draftIn((await test()).html);
    const nameless = await post(add, { draft, name: ' ', historyDays: '30' });
    const html = await nameless.text();
    expect(nameless.status).toBe(400);
    expect(html.match(/must not be empty/g)).toHaveLength(1);
    expect(await draftIn(html)).toBe(draft);
    expect((await formOn(new Response(html))).checked('historyDays')).toEqual(['30']);
    for (const historyDays of ['-1', '1.5', '366', 'many', ''])
      expect(await (await post(add, { draft, name: 'A', historyDays })).text()).toContain(
        'historyDays-error',
      );
    provider.data.token = 'another';
    const refused = await (await post(add, { draft, name: 'Harbor', historyDays: '0' })).text();
    expect(refused).toContain('Samsara refuses the API token');
    expect(await draftIn(refused)).toBe('');
    expect(await pullsOf(us)).toEqual([]);
  });

  it('refuses a credential that the account has connected already', async () => {
    expect((await save()).status).toBe(303);
    const again = await save({ name: 'Again' });
    expect(again.status).toBe(400);
    expect(await again.text()).toContain('This account has a connection with this credential already');
  });

  it('limits how often a provider is asked', async () => {
    const statuses = await Promise.all(Array.from({ length: 21 }, async () => (await test()).status));
    expect(statuses).toContain(429);
    expect(provider.calls.length).toBeLessThan(21);
  });

  it('asks for the parts of a credential that has parts, and brings back those that are no secret', async () => {
    const path = '/portal/connections/new?provider=geotab';
    const named = { server: 'my.example.com', database: 'acme', user: 'ann', password: 's3cret' };
    const fields = Object.fromEntries(Object.entries(named).map(([name, is]) => [`credential.${name}`, is]));
    const missing = await (await post(path, { ...fields, 'credential.user': '' })).text();
    expect(missing).toContain('id="credential.user-error"');
    expect(missing.match(/is required/g)).toHaveLength(1);
    const html = await (await post(path, { ...fields, 'credential.server': 'no server' })).text();
    expect(html).toContain('id="credential.password-error"'); // what is wrong with all of it
    expect(html).toContain('value="no server"');
    expect(html).toContain('value="ann"');
    expect(html).not.toContain('s3cret');
  });
});
