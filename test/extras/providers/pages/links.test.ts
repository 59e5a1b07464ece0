import { env } from 'cloudflare:workers';
import { connectLinkMs, maxOpenLinks } from '#src/extras/providers/links.ts';
import { claimDue, save } from '#src/extras/providers/store.ts';
import { addressIn, personBefore, visitor } from '#test/support/portal.ts';
import { pullAll, read } from '#test/support/provider.ts';
import { samsaraToken as credential, samsara } from '#test/support/providers/samsara.ts';
import { receiver } from '#test/support/receiver.ts';
import { rows } from '#test/support/rows.ts';
import { operator, register, type WebhookOut, worldBefore } from '#test/support/world.ts';

const links = '/portal/connections/links';
const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let provider: ReturnType<typeof samsara>;
beforeEach(() => {
  provider = samsara(receiver());
});

/** Creates a link as an admin does; returns its path. */
async function create(Fleet = 'Harbor Freight'): Promise<string> {
  const [url = ''] = (await (await ann.page(links)).press('Create link', { Fleet })).textAt(
    '#link',
  );
  return addressIn(url);
}
/** The fleet has the link alone, and no session. */
const fleet = visitor(() => '');
const connect = (link: string) =>
  fleet.post(`${link}&provider=samsara`, {
    credential,
    region: '',
    name: 'Harbor',
    historyDays: '0',
  });
const withdrawalAt = (link: string) => link.replace('?', '/withdraw?');
const openLinks = () => rows('select * from connect_links where account_id = ?1', us.accountId);
const pulls = () => rows('select * from pulls where account_id = ?1', us.accountId);
/** The connection that was made last. */
const connected = async () => String((await pulls()).at(-1)?.connection_id);

it('whoever has a connect link tests and connects, and sees nothing else', async () => {
  const link = await create();
  const first = await fleet.textAt(link);
  expect(first).toContain('Connect your fleet to Acme Insurance');
  expect(first).not.toMatch(/Another provider|Webhooks|Settings|Overview/);
  const form = await fleet.page(`${link}&provider=samsara`);
  const done = await form.press('Test and connect', { 'API token': credential, Name: 'Harbor' });
  expect(done).toMatchObject({ path: link, heading: '“Harbor” is connected' });
  const id = await connected();
  await pullAll(id);
  expect(await read(us, id, '/vehicles')).not.toEqual([]);
  for (const path of ['/portal', '/portal/connections', `/portal/connections/${id}`])
    expect((await fleet.get(path)).headers.get('location')).toBe('/portal/sign-in');
  expect(await ann.textAt('/portal/settings/audit')).toMatch(
    /Created connection Harbor Connect link for Harbor Freight/,
  );
});

it('whoever has a connect link reads before for how long evidence of accidents is kept, if it is', async () => {
  const link = await create();
  expect(await fleet.textAt(link)).not.toContain('keeps videos');
  await operator.patch(`/operator/accounts/${us.accountId}`, { evidenceDays: 90 });
  const kept = 'keeps videos, photos and reports of accidents for 90 days';
  expect(await fleet.textAt(link)).toContain(kept);
});

it('whoever has a connect link adds the connection to a webhook that covers all', async () => {
  const hook = await register(us, { allConnections: true, connectionIds: [] });
  await connect(await create());
  const { data } = await us.api.get<WebhookOut[]>('/webhooks');
  expect(data).toEqual([{ ...hook, connectionIds: [us.connection.id, await connected()] }]);
});

it('whoever has a connect link can use it once, also twice at once', async () => {
  const link = await create();
  await Promise.all([connect(link), connect(link)]);
  expect(await pulls()).toHaveLength(1);
  expect(await (await connect(link)).text()).toContain('is connected');
  expect(await pulls()).toHaveLength(1);
});

it('whoever has a connect link withdraws consent and credential by it', async () => {
  await register(us);
  const link = await create();
  await connect(link);
  const [before] = await pulls();
  const id = await connected();
  await pullAll(id);
  const question = await fleet.page(withdrawalAt(link));
  expect(question.text).toContain('Withdraw your consent? Nothing more of “Harbor” is read');
  const said = await question.press('Withdraw your consent');
  expect(said.heading).toBe('You have withdrawn your consent');
  const [after] = await pulls();
  expect(after).toMatchObject({ due_at: null, claim: null });
  expect(after?.secrets).not.toBe(before?.secrets);
  const calls = provider.calls.length;
  const why = 'The consent to this connection was withdrawn.';
  const path = `/portal/connections/${id}`;
  const replaced = await ann.post(`${path}/credential`, { credential: `${credential}2` });
  expect(await replaced.text()).toContain(why);
  for (const action of ['pull', 'resume', 'pause'])
    expect(await ann.outcome(`${path}/${action}`)).toContain(why);
  expect(provider.calls).toHaveLength(calls);
  expect(await pulls()).toEqual([after]);
  expect(await ann.textAt(links)).toContain('Consent withdrawn');
  const page = await ann.textAt(path);
  expect(page).toMatch(/Consent withdrawn.*Nothing more is pulled/);
  expect(page).not.toMatch(/Replace the|Pull now|Pause|Resume/);
  const overview = await ann.page('/portal');
  expect(overview.all('#connections-and-webhooks-with-problems')).toEqual([]);
  expect((await operator.get(`/operator/connections/${id}/pull`)).data).toMatchObject({
    ...{ state: 'refused', isWithdrawn: true },
  });
  expect((await fleet.post(withdrawalAt(link))).status).toBe(303);
  await connect(await create('Once more'));
  expect(await pulls()).toHaveLength(2);
});

it('whoever has a connect link ends a pull that is under way by it', async () => {
  const link = await create();
  await connect(link);
  const id = await connected();
  const [claimed] = await claimDue(env, [id]);
  if (!claimed) throw new Error('it is due at once');
  expect(await save(env, claimed, { succeededAt: Date.now() })).toBeDefined();
  await fleet.post(withdrawalAt(link));
  expect(await save(env, claimed, { succeededAt: Date.now(), health: 1 })).toBeUndefined();
  const health = await rows('select health_status from connections where id = ?1', id);
  expect(health).toEqual([{ health_status: 3 }]);
});

it.each([
  ['is expired', () => rows('update connect_links set expires_at = 1')],
  ['was revoked', async () => ann.post(`${links}/${(await openLinks())[0]?.id}/revoke`)],
  [
    'whoever has a connect link is of a suspended account',
    () => operator.patch(`/operator/accounts/${us.accountId}`, { status: 'suspended' }),
  ],
])('whoever has a connect link can do nothing with one that %s', async (_, end) => {
  const link = await create();
  await end();
  const replies = [
    await fleet.get(link),
    await connect(link),
    await fleet.post(withdrawalAt(link)),
  ];
  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
  for (const reply of replies) expect(await reply.text()).toContain('This link does not work');
  expect(await pulls()).toEqual([]);
});

it('whoever has a connect link is limited, and so is who guesses', async () => {
  const link = await create();
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) statuses.push((await fleet.get(link)).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
  expect((await fleet.get('/portal/connect?secret=guess')).status).toBe(404);
});

it('an admin sees a link once, and its secret is kept nowhere', async () => {
  const secret = (await create()).split('=').at(-1) ?? '';
  expect(secret).toHaveLength(65);
  expect(JSON.stringify(await openLinks())).not.toContain(secret);
  const { text, html } = await ann.page(links);
  expect(text).toContain('Not used yet');
  expect(html).not.toContain(secret);
});

it('an admin has twenty open links at most, of which expired ones are deleted', async () => {
  const insert = `insert into connect_links values (?1, ?2, ?1, 'x', 1, ?3, null, null)`;
  for (let i = 0; i < maxOpenLinks; i++)
    await rows(insert, crypto.randomUUID(), us.accountId, Date.now() + connectLinkMs);
  const refused = await ann.post(links, { name: 'One more' });
  expect(await refused.text()).toContain(`at most ${maxOpenLinks} links`);
  await rows('update connect_links set expires_at = 1 where account_id = ?1', us.accountId);
  await create();
  expect(await openLinks()).toHaveLength(1);
});

it('an admin has operators list and revoke links, too', async () => {
  await connect(await create('Used'));
  await create('Open');
  const path = `/operator/accounts/${us.accountId}/connect-links`;
  const { data: listed } = await operator.get<{ id: string }[]>(path);
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
