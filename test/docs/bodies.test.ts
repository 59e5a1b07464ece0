import { newId } from '#src/core/platform/db/ids.ts';
import { rowsOf } from '#test/support/account-rows.ts';
import { operations } from '#test/support/operations.ts';
import { bodies, requestOf } from '#test/support/routes.ts';
import { call, issueToken, register, worldBefore } from '#test/support.ts';

const [reading = [], changing = []] = [true, false].map((reads) =>
  operations.filter(({ route }) => route.startsWith('GET ') === reads),
);
/** Whose callers are monitors, which may add parameters of their own. */
const lenient = ['GET /health', 'GET /operator/metrics'];
const withBody = changing.flatMap(({ route, properties }) =>
  properties ? [{ route, properties }] : [],
);

const us = worldBefore(beforeAll);
let ids: { [list: string]: string };
/** Tests and replays are limited by token: each route gets one of its own. */
const tokens = new Map<string, string>();
let before: unknown;
beforeAll(async () => {
  const data = await register(us);
  const { id: connections } = us.connection;
  ids = { webhook: data.id, webhooks: data.id, accounts: us.accountId, connections };
  for (const { route } of operations.filter(({ route }) => !route.includes('/operator')))
    tokens.set(route, (await issueToken(us.accountId)).value);
  before = await everything();
});

/** What the account has, but for when its tokens were used. */
const everything = async () =>
  JSON.parse(
    JSON.stringify(await rowsOf(us.accountId), (key, value) =>
      key === 'last_used_at' ? null : value,
    ),
  );

function send(route: string, body: unknown, query = '') {
  const { method, path, headers } = requestOf(route, us);
  const list = /(\w+)\/:id/.exec(path)?.[1] ?? '';
  const token = path === '/ingest' ? undefined : tokens.get(route);
  return call(method, path.replace(':id', ids[list] ?? newId()).replace(/:\w+/, newId()) + query, {
    headers: { ...headers, ...(token && { 'x-api-key': token }) },
    body,
  });
}

type Body = { [name: string]: unknown };

/** A body that the route takes, after a change of the object at `path`, which is made if there is none. */
function bodyWith(route: string, path: string[], change: (object: Body) => void): Body {
  const body = structuredClone(bodies[route]?.(us) ?? {}) as Body; // an object
  const object = path.reduce((at, name) => {
    at[name] ??= name === 'oauth' ? { ...client } : {};
    return at[name] as Body; // an object
  }, body);
  change(object);
  return body;
}
const client = { tokenUrl: 'https://a.example.com', clientId: 'a', clientSecret: 's' };

/** A name with a capital, a letter too few, a letter too many, and underscores. */
const misspelt = (name: string): string[] => [
  name.charAt(0).toUpperCase() + name.slice(1),
  name.slice(0, -1),
  `${name}s`,
  `_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
];

describe.each(withBody)('$route', ({ route, properties }) => {
  it('refuses misspelt properties with the right name', async () => {
    for (const { within, name } of properties) {
      const wrong = misspelt(name);
      const body = bodyWith(route, within, (object) => {
        for (const other of wrong) object[other] = object[name] ?? true;
        delete object[name];
      });
      const { status, errors = [] } = await send(route, body);
      // Of a short name, so little is left that it is listed with the others.
      const meant = name.length > 4 ? ', did you mean' : '.*';
      const right = new RegExp(`^is not a property here${meant} ${name}\\b`);
      const refused = errors.filter(({ message }) => right.test(message)).map(({ field }) => field);
      expect({ status, refused }).toEqual({
        status: 400,
        refused: wrong.map((other) => [...within, other].join('.')),
      });
    }
  });

  it.each([[null], [''], [[]]])('takes optional properties that are %j', async (empty) => {
    for (const { within, name, isOptional, isList } of properties) {
      if (!isOptional || (Array.isArray(empty) && !isList)) continue;
      const body = bodyWith(route, within, (object) => {
        object[name] = empty;
      });
      // The other property alone is wrong, so that nothing is done.
      const { errors } = await send(route, { ...body, other: 1 });
      expect(errors, name).toMatchObject([{ field: 'other' }]);
    }
  });
});

it.each(changing.map(({ route }) => route))(
  '%s refuses parameters, and a body if it has none',
  async (route) => {
    const usual = bodies[route]?.(us) ?? (route.startsWith('DELETE') ? undefined : {});
    expect(await send(route, usual, '?dryRun=true')).toMatchObject({
      status: 400,
      errors: [{ field: 'dryRun', message: 'is not a parameter here; there is none' }],
    });
    if (!withBody.some((other) => other.route === route))
      expect(await send(route, { dryRun: true })).toMatchObject({
        status: 400,
        message: 'Request body must be empty',
      });
  },
);

it.each(reading.map(({ route }) => route).filter((route) => !lenient.includes(route)))(
  '%s refuses unknown parameters',
  async (route) => {
    const message = expect.stringContaining('is not a parameter here');
    expect(await send(route, undefined, '?dryRun=true')).toMatchObject({
      status: 400,
      errors: expect.arrayContaining([{ field: 'dryRun', message }]),
    });
  },
);

it('none of that has changed anything', async () => {
  expect(await everything()).toEqual(before);
});
