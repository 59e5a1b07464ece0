import { env } from 'cloudflare:workers';
import { may } from '#src/core/platform/roles.ts';
import { lookIn, lookMs } from '#src/people/looks.ts';
import { roleOf } from '#src/portal/routes.ts';
import { keepEmails } from '#test/support/emails.ts';
import { addressIn, ask, visitor } from '#test/support/portal.ts';
import { personalPages, portalAccount } from '#test/support/portal-account.ts';
import { rows } from '#test/support/rows.ts';
import { invalid, operator } from '#test/support/world.ts';

type Started = { url: string; expiresAt: string; admins: number; emailed: number };

const reason = 'Ticket 4711: no accidents since noon';
let ours: Awaited<ReturnType<typeof portalAccount>>;
let path = '';
beforeAll(async () => {
  ours = await portalAccount();
  path = `/operator/accounts/${ours.us.accountId}/looks`;
});

async function look() {
  const { data } = await operator.post<Started>(path, { reason });
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

it('shows every page that a viewer sees, and no button that changes something', async () => {
  const { get, page } = await look();
  const overview = await page('/portal');
  expect(overview.text).toContain('You are viewing this account as an operator until');
  for (const path of personalPages.filter((path) =>
    may('viewer', roleOf('GET', path) ?? 'viewer'),
  )) {
    // Who opens evidence is recorded as a person.
    if (path.includes('evidence')) continue;
    expect([200, 303], path).toContain((await get(ours.at(path))).status);
  }
  const settings = await page('/portal/settings/tokens');
  expect(settings.all('main form[method=post]')).toEqual([]);
  expect((await get('/portal/settings/sign-in')).status).toBe(403);
});

it.each([
  ['/portal/settings/account', { timeZone: 'UTC' }],
  ['/portal/settings/notifications', {}],
  ['/portal/webhooks/new', { url: 'https://x.example.com' }],
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
  const counts = async ({ page }: { page: typeof ours.page }) =>
    (await page('/portal')).textAt('.nav .count');
  expect(await counts(await look())).toEqual(await counts(ours));
  expect(await counts(ours)).not.toEqual([]);
});

it('ends by itself, at once by signing out, and with the account', async () => {
  const { url, expiresAt, setCookie, get, post } = await look();
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(lookMs);
  expect(Number(/Max-Age=(\d+)/.exec(setCookie)?.[1])).toBeLessThanOrEqual(lookMs / 1000);
  const secret = new URL(url).searchParams.get('secret') ?? '';
  expect(await lookIn(env, secret)).toEqual({
    accountId: ours.us.accountId,
    until: Date.parse(expiresAt),
  });
  expect(await lookIn(env, secret, Date.parse(expiresAt))).toBeUndefined();
  const later = secret.replace(/~\d+~/, `~${Date.parse(expiresAt) + 1}~`);
  expect(await lookIn(env, later)).toBeUndefined();
  expect(await lookIn(env, secret.replace(ours.us.accountId, crypto.randomUUID()))).toBeUndefined();
  const out = await post('/portal/sign-out');
  expect(out.headers.getSetCookie().join()).toMatch(/session=;/);
  await operator.patch(`/operator/accounts/${ours.us.accountId}`, { status: 'suspended' });
  expect((await get('/portal')).status).toBe(403);
  await operator.patch(`/operator/accounts/${ours.us.accountId}`, { status: 'active' });
});

it('needs a reason', async () => {
  expect(await operator.post(path, {})).toMatchObject(invalid('reason is required', 'reason'));
  expect(await operator.post(path, { reason: '-' })).toMatchObject(
    invalid('reason must say why', 'reason'),
  );
});
