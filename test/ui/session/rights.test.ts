import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { may, type Role, roles } from '#src/core/platform/roles.ts';
import { listPortalUsers } from '#src/people/people.ts';
import { roleOf } from '#src/portal/routes.ts';
import {
  personalPages,
  personalRoutes,
  portalAccountBefore,
} from '#test/support/portal-account.ts';
import {
  ask,
  contentOf,
  invalid,
  operator,
  type Person,
  pageIn,
  rows,
  signIn,
  through,
  type World,
  world,
} from '#test/support.ts';

/** What people who are signed in can reach, by its pattern within the portal. */
const routes = personalRoutes.map((route) =>
  route.replace(/\/portal(?=(\/?))/, (_, slash) => (slash ? '' : '/')),
);

const ours = portalAccountBefore(beforeAll);
/** Somebody of each role. */
const cookies = {} as Record<Role, string>; // filled in before all tests
beforeAll(async () => {
  for (const role of roles) cookies[role] = (await signIn(ours.us, role)).cookie;
});

/** A route with ids that nothing has: whoever may go there is told that there is nothing. */
const aimed = (route: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  return { method, path: `/portal${pattern}`.replaceAll(/:\w+/g, crypto.randomUUID()) };
};

/** The role that the pages take an address to need. */
const roleAt = (method: string, address: string) => roleOf(method, address) ?? 'viewer';
const roleFor = (route: string) => {
  const { method, path } = aimed(route);
  return roleAt(method, `${path}?a=b#c`);
};

// Before the next, which uses up what an account may do in a minute.
it.each(roles)('people who may not do something see no button for it: a %s', async (role) => {
  const { get } = await signIn(ours.us, role);
  for (const path of personalPages.filter((path) => may(role, roleAt('GET', path)))) {
    const reply = await get(ours.at(path));
    expect([200, 303], path).toContain(reply.status);
    const { all, links } = pageIn(await contentOf(reply));
    const forms = all('main form[method=post]').map((form) => form.getAttribute('action') ?? path);
    const barred = [
      ...links().filter((to) => !may(role, roleAt('GET', to))),
      ...forms.filter((to) => !may(role, roleAt('POST', to))),
    ];
    expect(barred, path).toEqual([]);
  }
});

describe('each route of the portal', () => {
  it('says the role that it needs', () => {
    const silent = routes.filter((route) => {
      const { method, path } = aimed(route);
      return roleOf(method, path) === undefined;
    });
    expect(silent).toEqual([]);
  });

  it.each(routes.flatMap((route) => roles.map((role) => [role, route] as const)))(
    'lets a %s in only if it says so, and its links too: %s',
    async (role, route) => {
      const cookie = route.includes('sign-out')
        ? (await signIn(ours.us, role)).cookie
        : cookies[role];
      const { method, path } = aimed(route);
      const reply = await ask(method, path, { cookie });
      const allowed = may(role, roleFor(route));
      expect(reply.status === 403).toBe(!allowed);
      if (!allowed) expect(await reply.text()).toMatch(/<h1>Ask an admin( or a member)?<\/h1>/);
    },
  );

  it('that changes something is for members at least, but for what is one’s own', () => {
    const changes = routes.filter((route) => !route.startsWith('GET '));
    expect(changes.filter((route) => roleFor(route) === 'viewer').toSorted()).toEqual([
      'POST /settings/account',
      'POST /settings/notifications',
      'POST /sign-out',
      'POST /sign-out-everywhere',
    ]);
  });

  it('that changes tokens, people, links or types, or exports, is for admins', () => {
    const lists = ['GET /settings/tokens', 'GET /settings/people', 'GET /settings/exports'];
    expect(routes.filter((route) => roleFor(route) === 'admin')).toEqual(
      routes.filter(
        (route) =>
          /\/settings\/(tokens|people|exports|sign-in|account\/evidence)|\/connections\/(links|own)|\/(keys|labels)$/.test(
            route,
          ) && !lists.includes(route),
      ),
    );
  });
});

/** The people of an account by their address, with their roles. */
async function peopleOf({ accountId }: World) {
  const { items } = await listPortalUsers(env, operatorIn(accountId), { limit: 100 });
  return new Map(items.map((person) => [person.email, person]));
}

const give = async (them: World, by: Person, to: Person, role: string) => {
  const id = (await peopleOf(them)).get(to.email)?.id;
  return by.post(`/portal/settings/people/${id}/role`, { role });
};

const inviting = '/portal/settings/people';

it('roles: the first person of an account is an admin, the next as asked for', async () => {
  const them = await world();
  const path = `/operator/accounts/${them.accountId}/users`;
  const add = (email: string, role?: string) =>
    operator.post<{ role: Role }>(path, { email, role });
  for (const [name, asked, given] of [
    ['first', 'viewer', 'admin'],
    ['second', 'viewer', 'viewer'],
    ['second', 'member', 'member'], // still pending
    ['third', undefined, 'admin'],
  ] as const)
    expect((await add(`${name}@example.com`, asked)).data.role).toBe(given);
  expect(await add('x@example.com', 'boss')).toMatchObject(
    invalid('role must be admin, member or viewer', 'role'),
  );
});

it('roles are chosen with an invitation, and changed at once by an admin', async () => {
  const them = await world();
  const [ann, bob] = [await signIn(them), await signIn(them, 'viewer')];
  const reply = await ann.post(inviting, { email: 'carl@example.com', role: 'viewer' });
  expect(reply.headers.get('location')).toBe(inviting);
  expect((await peopleOf(them)).get('carl@example.com')?.role).toBe('viewer');
  const form = async () => (await bob.get('/portal/webhooks/new')).status;
  expect(await form()).toBe(403);
  expect((await give(them, ann, bob, 'member')).status).toBe(303);
  expect(await form()).toBe(200);
  expect((await give(them, ann, bob, 'boss')).status).toBe(400);
});

it('whoever loses a role during their request is refused by its transaction', async () => {
  const them = await world();
  const { post, email } = await signIn(them);
  await signIn(them, 'admin');
  const DB = through(env.DB, async (run, statements) => {
    // By then the session was read.
    if (statements.some(({ text }) => text.includes('insert into "invitations"')))
      await rows(`update portal_users set role = 'viewer' where email = ?`, email);
    return run();
  });
  const late = { email: 'late@example.com', role: 'admin' };
  expect((await post(inviting, late, { bindings: { ...env, DB } })).status).toBe(403);
  expect((await peopleOf(them)).has('late@example.com')).toBe(false);
});

it('the last admin cannot be demoted, and who is pending does not count', async () => {
  const them = await world();
  const ann = await signIn(them);
  await ann.post(inviting, { email: 'pending@example.com', role: 'admin' });
  const refused = await give(them, ann, ann, 'member');
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('An account needs at least one admin.');
  const bob = await signIn(them, 'admin');
  expect((await give(them, ann, ann, 'member')).status).toBe(303);
  expect((await give(them, bob, bob, 'viewer')).status).toBe(400);
});

it('the last admin stays, however two admins race to demote one of them', async () => {
  for (let round = 0; round < 4; round++) {
    const them = await world();
    const [ann, bob] = [await signIn(them), await signIn(them)];
    const [first, second] = round % 2 === 0 ? [ann, bob] : [bob, ann];
    const demoted = [give(them, ann, first, 'member'), give(them, bob, second, 'member')];
    expect((await Promise.all(demoted)).filter(({ status }) => status === 303)).toHaveLength(1);
    const admins = [...(await peopleOf(them)).values()].filter(({ role }) => role === 'admin');
    expect(admins).toHaveLength(1);
  }
});
