import { env } from 'cloudflare:workers';
import { connectLinkMs, maxOpenLinks } from '#src/extras/providers/links.ts';
import { type Claimed, claimDue, save } from '#src/extras/providers/store.ts';
import { samsaraToken as credential, samsara } from '#test/extras/providers/fleets/samsara.ts';
import {
  makePullDue,
  pullAll,
  pullStatus,
  read,
  untilNotPulling,
} from '#test/extras/providers/support.ts';
import {
  addressIn,
  changeAccount,
  invalid,
  operator,
  ownRows,
  personBefore,
  receiver,
  rows,
  through,
  value,
  visitor,
  worldBefore,
} from '#test/support.ts';

const links = '/portal/connections/links';
const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let provider: ReturnType<typeof samsara>;
beforeEach(() => {
  provider = samsara(receiver());
});

/** Creates a link as an admin does; returns its path. */
async function create(Fleet = 'Harbor Freight') {
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
const openLinks = () => ownRows(us, 'connect_links');
const pulls = () => ownRows(us, 'pulls');
/** The connection that was made last. */
const connected = async () => String((await pulls()).at(-1)?.connection_id);

describe('whoever has a connect link', () => {
  it('tests and connects, and sees nothing else', async () => {
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
    const elsewhere = await fleet.get(`/portal/connections/${id}`);
    expect(elsewhere.headers.get('location')).toBe('/portal/sign-in');
    expect(await ann.textAt('/portal/settings/audit')).toMatch(
      /Created connection Harbor Connect link for Harbor Freight/,
    );
  });

  it('reads before for how long evidence of accidents is kept, if it is', async () => {
    const link = await create();
    expect(await fleet.textAt(link)).not.toContain('keeps videos');
    await changeAccount(us, { evidenceDays: 90 });
    expect(await fleet.textAt(link)).toMatch(/keeps videos, .* for 90 days/);
  });

  it('can use it once, also twice at once', async () => {
    const link = await create();
    await Promise.all([connect(link), connect(link)]);
    expect(await pulls()).toHaveLength(1);
    expect(await (await connect(link)).text()).toContain('is connected');
    expect(await pulls()).toHaveLength(1);
  });

  it('withdraws consent and credential by it', async () => {
    const link = await create();
    await connect(link);
    const [before] = await pulls();
    const id = await connected();
    const question = await fleet.page(withdrawalAt(link));
    expect(question.text).toContain('Nothing more of “Harbor” is read');
    await question.press('Withdraw your consent');
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
    expect((await ann.page('/portal')).all('#connections-and-webhooks-with-problems')).toEqual([]);
    expect(await pullStatus(id)).toMatchObject({ state: 'refused', isWithdrawn: true });
    expect((await fleet.post(withdrawalAt(link))).status).toBe(303);
    await connect(await create('Once more'));
    expect(await pulls()).toHaveLength(2);
  });

  it('ends a pull that is under way by it', async () => {
    const link = await create();
    await connect(link);
    const id = await connected();
    await untilNotPulling(id);
    await makePullDue(id);
    const [claimed = {} as Claimed] = await claimDue(env, [id]);
    expect(await save(env, claimed, { succeededAt: Date.now() })).toBeDefined();
    await fleet.post(withdrawalAt(link));
    expect(await save(env, claimed, { succeededAt: Date.now(), health: 1 })).toBeUndefined();
    expect(await value('select health_status from connections where id = ?1', id)).toBe(3);
  });

  it('withdraws consent in one transaction, whatever fails afterwards', async () => {
    const link = await create();
    await connect(link);
    let isDone = false;
    const DB = through(env.DB, async (run, statements) => {
      if (isDone) throw new Error('D1 DB exceeded its CPU time limit and was reset.');
      isDone = statements.some(({ text }) => text.startsWith('update "pulls"'));
      return run();
    });
    await fleet.post(withdrawalAt(link), {}, { bindings: { ...env, DB } });
    expect(
      await rows('select health_status from connections where id = ?1', await connected()),
    ).toEqual([{ health_status: 3 }]);
  });

  it.each([
    ['is expired', () => rows('update connect_links set expires_at = 1')],
    ['was revoked', async () => ann.post(`${links}/${(await openLinks())[0]?.id}/revoke`)],
    ['is of a suspended account', () => changeAccount(us, { status: 'suspended' })],
  ])('can do nothing with one that %s', async (_, end) => {
    const link = await create();
    await end();
    for (const reply of [fleet.get(link), connect(link), fleet.post(withdrawalAt(link))]) {
      expect((await reply).status).toBe(404);
      expect(await (await reply).text()).toContain('This link does not work');
    }
    expect(await pulls()).toEqual([]);
  });

  it('is limited, and so is who guesses', async () => {
    const link = await create();
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => (await fleet.get(link)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await fleet.get('/portal/connect?secret=guess')).status).toBe(404);
  });
});

describe('an admin', () => {
  it('sees a link once, and its secret is kept nowhere', async () => {
    const secret = (await create()).split('=').at(-1) ?? '';
    expect(secret).toHaveLength(65);
    expect(JSON.stringify(await openLinks())).not.toContain(secret);
    const { text, html } = await ann.page(links);
    expect(text).toContain('Not used yet');
    expect(html).not.toContain(secret);
  });

  it('has twenty open links at most, of which expired ones are deleted', async () => {
    const insert = `insert into connect_links values (?1, ?2, ?1, 'x', 1, ?3, null, null)`;
    for (let i = 0; i < maxOpenLinks; i++)
      await rows(insert, crypto.randomUUID(), us.accountId, Date.now() + connectLinkMs);
    const refused = await ann.post(links, { name: 'One more' });
    expect(await refused.text()).toContain(`at most ${maxOpenLinks} links`);
    await rows('update connect_links set expires_at = 1 where account_id = ?1', us.accountId);
    await create();
    expect(await openLinks()).toHaveLength(1);
  });

  it('has operators list and revoke links, too', async () => {
    await connect(await create('Used'));
    await create('Open');
    const path = `/operator/accounts/${us.accountId}/connect-links`;
    const { data: listed } = await operator.get<{ id: string }[]>(path);
    const [open, used] = listed;
    expect(listed).toMatchObject([
      { name: 'Open', connectionId: null },
      { name: 'Used', connectionId: expect.any(String) },
    ]);
    const refused = await operator.delete(`/operator/connect-links/${used?.id}`);
    expect(refused).toMatchObject(invalid('This link has been used already.'));
    expect((await operator.delete(`/operator/connect-links/${open?.id}`)).data).toEqual(open);
    expect((await operator.get(path)).data).toEqual([used]);
  });
});
