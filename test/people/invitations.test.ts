import { env, exports } from 'cloudflare:workers';
import { maxInvitationsPerDay } from '#src/people/invitations.ts';
import { pruneSessions } from '#src/people/prune.ts';
import {
  addRows,
  addressIn,
  ask,
  dayMs,
  type Email,
  invalid,
  keepEmails,
  newLink,
  operator,
  origin,
  type Person,
  personBefore,
  rows,
  signIn,
  times,
  value,
  type World,
  worldBefore,
} from '#test/support.ts';

type User = { id: string; email: string; pending: boolean };

const us = worldBefore(beforeEach);
const them = worldBefore(beforeEach);
const ours = personBefore(beforeEach, us);
const theirs = personBefore(beforeEach, them);
let emails: ReturnType<typeof keepEmails>;
beforeEach(() => {
  emails = keepEmails();
});

let made = 0;
const newAddress = () => `stranger-${made++}@example.com`;
const people = '/portal/settings/people';
const invite = ({ post }: Person, email: string) => post(people, { email, role: 'member' });
const usersOf = async ({ accountId }: World, email: string) => {
  const { data } = await operator.get<User[]>(`/operator/accounts/${accountId}/users`);
  return data.filter((user) => user.email === email);
};
const sentTo = (email: string) => emails.sent().filter(({ to }) => to === email);
const mailTo = (email: string) =>
  vi.waitFor(() => {
    const sent = sentTo(email);
    expect(sent).not.toEqual([]);
    return sent;
  }, 30_000);
const linksIn = (mail: Email | undefined) =>
  [...(mail?.text ?? '').matchAll(/https:\/\/\S+/g)].map(([url]) => addressIn(url));
const use = async (link = '') => (await ask('POST', link)).status;

describe('an invitation', () => {
  it('makes its address pending, until its owner has used the link', async () => {
    const email = newAddress();
    expect((await invite(ours, email)).status).toBe(303);
    expect(await usersOf(us, email)).toMatchObject([{ pending: true }]);
    expect(await ours.textAt(people)).toContain('Invited');
    const [mail] = await mailTo(email);
    expect(mail?.text).toContain('Acme Insurance invites you');
    expect(mail?.text).toContain('expires after 7 days');
    const until = await value<number>('select max(expires_at) from sign_in_links');
    expect(((until ?? 0) - Date.now()) / 86_400_000).toBeCloseTo(7, 1);
    expect(await use(linksIn(mail)[0])).toBe(303);
    expect(await usersOf(us, email)).toMatchObject([{ pending: false }]);
  });

  it('looks the same whether the address is unknown, invited, or a customer’s', async () => {
    const [unknown, invited, customer] = [newAddress(), newAddress(), (await signIn(them)).email];
    await invite(theirs, invited);
    const seen = [];
    for (const email of [unknown, invited, customer]) {
      const reply = await invite(ours, email);
      const rows = (await ours.page(people)).all('tbody tr');
      const row = rows.find((one) => one.text.includes(email))?.innerHTML;
      const alike = row?.replaceAll(email, '').replace(/<time.*?<\/time>|people\/[^/]*\//g, '');
      seen.push([reply.status, reply.headers.get('location'), await reply.text(), alike].join());
    }
    expect(seen[0]).toContain('Invited');
    expect(new Set(seen).size).toBe(1);
  });

  it('makes somebody a person of several accounts, each with its own link', async () => {
    const { email } = await signIn(them);
    await invite(ours, email);
    await mailTo(email);
    emails.send.mockClear();
    await ask('POST', '/portal/sign-in', { fields: { email } });
    const [mail, ...more] = await mailTo(email);
    expect(more).toEqual([]);
    expect(mail?.text).toMatch(/You can sign in to several accounts.*:\n[\s\S]*invites you:/);
    const [known, invited, ...others] = linksIn(mail); // where they have signed in before comes first
    expect(others).toEqual([]);
    expect(await usersOf(us, email)).toMatchObject([{ pending: true }]);
    expect(await use(invited)).toBe(303);
    expect(await use(known)).toBe(303);
    expect(await usersOf(us, email)).toMatchObject([{ pending: false }]);
    expect(await usersOf(them, email)).toMatchObject([{ pending: false }]);
  });

  it('is emailed to an address once an hour, whoever sends it', async () => {
    const email = newAddress();
    for (const one of [ours, theirs, ours]) expect((await invite(one, email)).status).toBe(303);
    await mailTo(email);
    await invite(ours, newAddress());
    expect(sentTo(email)).toHaveLength(1);
    await rows('update invitations set sent_at = sent_at - 3600000 where email = ?1', email);
    await invite(theirs, email);
    await expect.poll(() => sentTo(email)).toHaveLength(2);
  });

  it('can be sent twenty times a day, however many have been removed again', async () => {
    const day = times(maxInvitationsPerDay, newAddress);
    const [first = '', ...others] = day;
    await addRows('invitations', others.length, (i) => ({
      account_id: us.accountId,
      email: others[i],
      sent_at: Date.now(),
      emailed: 1,
    }));
    expect((await invite(ours, first)).status).toBe(303);
    const [user] = await usersOf(us, first);
    await ours.post(`${people}/${user?.id}/remove`);
    const refused = await invite(ours, newAddress());
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(
      `An account can invite at most ${maxInvitationsPerDay} people a day. Try again tomorrow.`,
    );
    expect((await invite(theirs, newAddress())).status).toBe(303);
    await rows('update invitations set sent_at = sent_at - 86400000');
    expect((await invite(ours, newAddress())).status).toBe(303);
    await pruneSessions(env);
    const left = 'select count(*) from invitations where account_id = ?1';
    expect(await value(left, us.accountId)).toBe(1);
    await pruneSessions(env, Date.now() + dayMs);
    expect(await value(left, us.accountId)).toBe(0);
  });

  it('that nobody takes up is forgotten with a later one, after 14 days', async () => {
    const [old, fresh] = [newAddress(), newAddress()];
    await invite(ours, old);
    await rows(
      'update portal_users set created_at = created_at - 14 * 86400000 where email = ?1',
      old,
    );
    await invite(ours, fresh);
    expect(await usersOf(us, old)).toEqual([]);
    expect(await usersOf(us, fresh)).toHaveLength(1);
  });
});

it('operators add whoever is a person of another account, and nobody twice', async () => {
  const { email } = await signIn(them);
  const add = ({ accountId }: World) =>
    operator.post(`/operator/accounts/${accountId}/users`, { email });
  expect(await add(us)).toMatchObject({ status: 200, data: { pending: true } });
  expect(await add(them)).toMatchObject(invalid('This address cannot be added', 'email'));
});

it('operators name the account for whom several have invited', async () => {
  const email = newAddress();
  for (const { accountId } of [us, them])
    await operator.post(`/operator/accounts/${accountId}/users`, { email });
  const links = '/operator/sign-in-links';
  const refused = invalid('Several accounts have invited this address');
  expect(await operator.post(links, { email })).toMatchObject(refused);
  expect(await use(await newLink(email, { accountId: us.accountId }))).toBe(303);
  expect(await usersOf(us, email)).toMatchObject([{ pending: false }]);
});

it('links lead to the configured origin, whatever host a request names', async () => {
  const { email } = await signIn(us);
  const forged = 'https://evil.example';
  const init = {
    method: 'POST',
    headers: { origin: forged },
    body: new URLSearchParams({ email }),
  };
  await exports.default.fetch(new Request(`${forged}/portal/sign-in`, init));
  const [mail] = await mailTo(email);
  expect(mail?.text).toContain(`${origin}/portal/sign-in/link?secret=`);
  expect(JSON.stringify(mail)).not.toContain('evil');
});
