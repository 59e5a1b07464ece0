import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { connectLinkMs, maxOpenLinks } from '../../../src/providers/links.ts';
import { claimDue, save } from '../../../src/providers/store.ts';
import { ask, follow, pageAfter, signIn, textOf } from '../../support/portal.ts';
import { pullAll, read } from '../../support/provider.ts';
import { samsaraToken as credential, samsara } from '../../support/providers/samsara.ts';
import { receiver } from '../../support/receiver.ts';
import { rows } from '../../support/rows.ts';
import { as, operator, type WebhookOut, webhookBody, worldBefore } from '../../support/world.ts';

const links = '/portal/connections/links';
const us = worldBefore(beforeEach);
let cookie: string;
let provider: ReturnType<typeof samsara>;
beforeEach(async () => {
  provider = samsara(receiver());
  ({ cookie } = await signIn(us));
});

/** Creates a link as an admin does; returns its path. */
async function create(name = 'Harbor Freight'): Promise<string> {
  const page = await (await pageAfter(await ask('POST', links, { cookie, fields: { name } }), cookie)).text();
  return /id="link"[^>]*>\s*(\S+?)\s*</.exec(page)?.[1]?.replace(/^https:\/\/[^/]+/, '') ?? '';
}
/** The fleet has the link alone, and no session. */
const fleet = (method: string, path: string, fields?: Record<string, string>) =>
  ask(method, path, fields ? { fields } : {});
const connect = (link: string, fields = {}) =>
  fleet('POST', `${link}?provider=samsara`, {
    ...{ credential, region: '', name: 'Harbor', historyDays: '0', ...fields },
  });
const openLinks = () => rows('select * from connect_links where account_id = ?1', us.accountId);
const pulls = () => rows('select * from pulls where account_id = ?1', us.accountId);

describe('somebody outside an account who has a connect link', () => {
  it('chooses the provider, tests the credential and connects it, and sees nothing else', async () => {
    const link = await create();
    const first = await textOf(await fleet('GET', link));
    expect(first).toContain('Connect your fleet to Acme Insurance');
    expect(first).not.toMatch(/Another provider|Webhooks|Settings|Overview/);
    const done = await connect(link);
    expect(done.headers.get('location')).toBe(link);
    expect(await follow(done, '')).toContain('“Harbor” is connected');
    const [pull] = await pulls();
    await pullAll(String(pull?.connection_id));
    expect(await read(us, String(pull?.connection_id), '/vehicles')).not.toEqual([]);
    for (const path of ['/portal', '/portal/connections', `/portal/connections/${pull?.connection_id}`])
      expect((await fleet('GET', path)).headers.get('location')).toBe('/portal/sign-in');
    const audit = await textOf(await ask('GET', '/portal/settings/audit', { cookie }));
    expect(audit).toMatch(/Created connection Harbor Connect link for Harbor Freight/);
  });

  it('adds the connection to a webhook that covers all', async () => {
    const body = webhookBody(us, { allConnections: true, connectionIds: [] });
    const { data: hook } = await as(us.apiToken).post<WebhookOut>('/webhook', body);
    await connect(await create());
    const [pull] = await pulls();
    const { data } = await as(us.apiToken).get<WebhookOut[]>('/webhooks');
    expect(data).toEqual([{ ...hook, connectionIds: [us.connection.id, pull?.connection_id] }]);
  });

  it('can use it once, also when it is used twice at the same moment', async () => {
    const link = await create();
    await Promise.all([connect(link), connect(link)]);
    expect(await pulls()).toHaveLength(1);
    expect(await textOf(await connect(link))).toContain('is connected');
    expect(await pulls()).toHaveLength(1);
  });

  it('withdraws their consent by it, which ends the pulling and deletes the credential', async () => {
    await as(us.apiToken).post('/webhook', webhookBody(us));
    const link = await create();
    await connect(link);
    const [before] = await pulls();
    const id = String(before?.connection_id);
    await pullAll(id);
    const question = await textOf(await fleet('GET', `${link}/withdraw`));
    expect(question).toContain('Withdraw your consent? Nothing more of “Harbor” is read');
    const said = await follow(await fleet('POST', `${link}/withdraw`), '');
    expect(said).toContain('You have withdrawn your consent');
    const [after] = await pulls();
    expect(after).toMatchObject({ due_at: null, claim: null });
    expect(after?.secrets).not.toBe(before?.secrets);
    const calls = provider.calls.length;
    const why = 'The consent to this connection was withdrawn.';
    const fields = { credential: `${credential}2` };
    const path = `/portal/connections/${id}`;
    expect(await textOf(await ask('POST', `${path}/credential`, { cookie, fields }))).toContain(why);
    for (const action of ['pull', 'resume', 'pause'])
      expect(await follow(await ask('POST', `${path}/${action}`, { cookie }), cookie)).toContain(why);
    expect(provider.calls).toHaveLength(calls);
    expect(await pulls()).toEqual([after]);
    expect(await textOf(await ask('GET', links, { cookie }))).toContain('Consent withdrawn');
    const page = await textOf(await ask('GET', path, { cookie }));
    expect(page).toMatch(/Consent withdrawn.*Nothing more is pulled/);
    expect(page).not.toMatch(/Replace the|Pull now|Pause|Resume/);
    const overview = await (await ask('GET', '/portal', { cookie })).text();
    expect(overview).not.toMatch(/id="problems"|need attention/);
    expect((await operator.get(`/operator/connections/${id}/pull`)).data).toMatchObject({
      ...{ state: 'refused', isWithdrawn: true },
    });
    expect((await fleet('POST', `${link}/withdraw`)).status).toBe(303);
    await connect(await create('Once more'));
    expect(await pulls()).toHaveLength(2);
  });

  it('ends a pull that is under way by it, which says no more of the health', async () => {
    const link = await create();
    await connect(link);
    const [{ connection_id: id } = { connection_id: '' }] = await pulls();
    const [claimed] = await claimDue(env, [String(id)]);
    if (!claimed) throw new Error('it is due at once');
    expect(await save(env, claimed, { succeededAt: Date.now() })).toBeDefined();
    await fleet('POST', `${link}/withdraw`);
    expect(await save(env, claimed, { succeededAt: Date.now(), health: 1 })).toBeUndefined();
    expect(await rows('select health_status from connections where id = ?1', id)).toEqual([
      { health_status: 3 },
    ]);
  });

  it.each([
    ['is expired', () => rows('update connect_links set expires_at = 1')],
    ['was revoked', async () => ask('POST', `${links}/${(await openLinks())[0]?.id}/revoke`, { cookie })],
    [
      'is of a suspended account',
      () => operator.patch(`/operator/accounts/${us.accountId}`, { status: 'suspended' }),
    ],
  ])('can do nothing with one that %s', async (_, end) => {
    const link = await create();
    await end();
    for (const [method, path] of [
      ['GET', link],
      ['POST', `${link}?provider=samsara`],
      ['POST', `${link}/withdraw`],
    ] as const) {
      const reply = await fleet(method, path, { credential });
      expect(reply.status).toBe(404);
      expect(await reply.text()).toContain('This link does not work');
    }
    expect((await connect(link)).status).toBe(404);
    expect(await pulls()).toEqual([]);
  });

  it('is limited, and so is who guesses', async () => {
    const link = await create();
    const statuses: number[] = [];
    for (let i = 0; i < 25; i++) statuses.push((await fleet('GET', link)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    expect((await fleet('GET', '/portal/connect/guess')).status).toBe(404);
  });
});

describe('an admin', () => {
  it('sees a link once, and its secret is kept nowhere', async () => {
    const link = await create();
    const secret = link.split('/').at(-1) ?? '';
    expect(secret).toHaveLength(65);
    expect(JSON.stringify(await openLinks())).not.toContain(secret);
    const page = await (await ask('GET', links, { cookie })).text();
    expect(page).toContain('Not used yet');
    expect(page).not.toContain(secret);
  });

  it('has twenty open links at most, of which expired ones are deleted', async () => {
    for (let i = 0; i < maxOpenLinks; i++)
      await rows(
        `insert into connect_links values (?1, ?2, ?1, 'x', 1, ?3, null, null)`,
        crypto.randomUUID(),
        us.accountId,
        Date.now() + connectLinkMs,
      );
    const refused = await ask('POST', links, { cookie, fields: { name: 'One more' } });
    expect(await refused.text()).toContain(`at most ${maxOpenLinks} links`);
    await rows('update connect_links set expires_at = 1 where account_id = ?1', us.accountId);
    await create();
    expect(await openLinks()).toHaveLength(1);
  });

  it('has operators list and revoke links, too', async () => {
    await connect(await create('Used'));
    await create('Open');
    const path = `/operator/accounts/${us.accountId}/connect-links`;
    type Link = { id: string; connectionId: string | null };
    const { data: listed } = await operator.get<Link[]>(path);
    const [open, used] = listed;
    expect(listed).toMatchObject([
      { name: 'Open', connectionId: null, withdrawnAt: null },
      { name: 'Used', connectionId: expect.any(String) },
    ]);
    expect(await operator.delete(`/operator/connect-links/${used?.id}`)).toMatchObject({
      status: 400,
      message: 'This link has been used already.',
    });
    expect((await operator.delete(`/operator/connect-links/${open?.id}`)).data).toEqual(open);
    expect((await operator.get(path)).data).toEqual([used]);
  });
});
