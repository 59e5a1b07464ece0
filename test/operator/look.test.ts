import { env } from 'cloudflare:workers';
import { may } from '#src/core/platform/roles.ts';
import { lookIn, lookMs } from '#src/people/looks.ts';
import { roleOf } from '#src/portal/routes.ts';
import { personalPages, portalAccountBefore } from '#test/support/portal-account.ts';
import { addressIn, ask, invalid, keepEmails, operator, rows, visitor } from '#test/support.ts';

type Started = { url: string; expiresAt: string; admins: number; emailed: number };

const reason = 'Ticket 4711: no accidents since noon';
const ours = portalAccountBefore(beforeAll);
const start = (body: object) =>
  operator.post<Started>(`/operator/accounts/${ours.us.accountId}/looks`, body);

async function look() {
  const { data } = await start({ reason });
  const link = addressIn(data.url);
  const setCookie = (await ask('POST', link)).headers.get('set-cookie') ?? '';
  return { ...data, setCookie, ...visitor(() => setCookie.split(';')[0] ?? '') };
}

it('is told to the account, in the audit log and by email to its admins', async () => {
  const { sent } = keepEmails();
  expect(await look()).toMatchObject({ admins: 1, emailed: 1 });
  expect(sent()).toMatchObject([
    {
      to: ours.email,
      subject: 'An operator is viewing your portal',
      text: expect.stringContaining(reason),
    },
  ]);
  const log = await ours.textAt('/portal/settings/audit');
  expect(log).toMatch(/Looked at account .+ the portal, for 30 minutes: Ticket 4711/s);
  keepEmails().send.mockRejectedValue(new Error('refused'));
  expect(await look()).toMatchObject({ admins: 1, emailed: 0 });
});

it('shows every page that a viewer sees', async () => {
  const { get, page } = await look();
  const overview = await page('/portal');
  expect(overview.text).toContain('You are viewing this account as an operator until');
  // Who opens evidence is recorded as a person.
  const isForViewers = (path: string) => may('viewer', roleOf('GET', path) ?? 'viewer');
  for (const path of personalPages)
    if (isForViewers(path) && !path.includes('evidence'))
      expect([200, 303], path).toContain((await get(ours.at(path))).status);
});

it.each([
  ['/portal/settings/account', { timeZone: 'UTC' }],
  ['/portal/settings/notifications', {}],
  ['/portal/sign-out-everywhere', {}],
])('can change nothing: POST %s', async (path, fields) => {
  const { post } = await look();
  const before = await rows('select * from portal_users order by id');
  expect((await post(path, fields)).status).toBe(403);
  expect(await rows('select * from portal_users order by id')).toEqual(before);
});

it('can open no evidence, of which the audit log would say who did', async () => {
  const { get, page } = await look();
  const path = personalPages.find((path) => path.endsWith('/evidence/:evidenceId')) ?? '';
  expect((await get(ours.at(path))).status).toBe(403);
  const accident = ours.at('/portal/accidents/:eventId');
  const shown = 'main figure img, main a[href$="/evidence"]';
  expect((await page(accident)).all(shown)).toEqual([]);
  expect((await ours.page(accident)).all(shown).length).toBeGreaterThan(0);
});

it('counts what needs attention as the account does', async () => {
  const counts = async (who: Pick<typeof ours, 'page'>) =>
    (await who.page('/portal')).textAt('.nav .count');
  const theirs = await counts(ours);
  expect(theirs).not.toEqual([]);
  expect(await counts(await look())).toEqual(theirs);
});

it('ends by itself, at once by signing out, and with the account', async () => {
  const { url, expiresAt, setCookie, get, post } = await look();
  const until = Date.parse(expiresAt);
  expect(until - Date.now()).toBeLessThanOrEqual(lookMs);
  expect(Number(/Max-Age=(\d+)/.exec(setCookie)?.[1])).toBeLessThanOrEqual(lookMs / 1000);
  const secret = new URL(url).searchParams.get('secret') ?? '';
  const { accountId } = ours.us;
  expect(await lookIn(env, secret)).toEqual({ accountId, until });
  expect(await lookIn(env, secret, until)).toBeUndefined();
  for (const forged of [
    secret.replace(/~\d+~/, `~${until + 1}~`),
    secret.replace(accountId, crypto.randomUUID()),
  ])
    expect(await lookIn(env, forged)).toBeUndefined();
  const out = await post('/portal/sign-out');
  expect(out.headers.getSetCookie().join()).toMatch(/session=;/);
  const set = (status: string) => operator.patch(`/operator/accounts/${accountId}`, { status });
  await set('suspended');
  expect((await get('/portal')).status).toBe(403);
  await set('active');
});

it.each([
  [{}, 'is required'],
  [{ reason: '-' }, 'must say why'],
])('needs a reason: %o', async (body, said) => {
  expect(await start(body)).toMatchObject(invalid(`reason ${said}`, 'reason'));
});
