import { Hono } from 'hono';
import * as v from 'valibot';
import { addPortalUser, Email, listPortalUsers, removePortalUser } from '../accounts/people.ts';
import { createSignInLink } from '../accounts/sessions.ts';
import { type FieldError, Refusal } from '../errors.ts';
import { parse } from '../fields.ts';
import type { App, Context } from '../http/context.ts';
import { issueToken, listTokens, revokeToken } from '../tokens/service.ts';
import { formOf } from './context.ts';
import { Confirm, Field, Problem, page, Table, Time } from './layout.tsx';
import { sendLink } from './sign-in.tsx';

/** Settings: API Tokens (spec 5.3, 5.4) and People. */
export const settingsRoutes = new Hono<App>()
  .get('/settings', (c) => c.redirect('/portal/settings/tokens', 303))
  .get('/settings/tokens', (c) => tokensPage(c))
  .post('/settings/tokens', generate)
  .get('/settings/tokens/:id/revoke', confirmRevoke)
  .post('/settings/tokens/:id/revoke', revoke)
  .get('/settings/people', (c) => peoplePage(c))
  .post('/settings/people', invite)
  .get('/settings/people/:id/remove', confirmRemove)
  .post('/settings/people/:id/remove', remove);

const notFound = () => new Refusal({ kind: 'not found' });

type Wrong = { message: string; errors?: FieldError[] | undefined; values: Record<string, string> };

async function tokensPage(c: Context, wrong?: Wrong) {
  const tokens = (await listTokens(c.env, c.get('caller'))).filter(({ scope }) => scope === 'api');
  return page(
    c,
    'API Tokens',
    <>
      <p>A token opens all of your account to whoever holds it. Its value is shown once.</p>
      <Problem message={wrong?.message} />
      <form method="post">
        <div class="grid">
          <Field
            name="name"
            label="Token name"
            required
            value={wrong?.values.name ?? ''}
            errors={wrong?.errors ?? []}
          />
          <Field
            name="expires"
            label="Expires (optional)"
            type="date"
            value={wrong?.values.expires ?? ''}
            errors={wrong?.errors ?? []}
          />
        </div>
        <button type="submit">Generate Token</button>
      </form>
      <h2>Tokens in use</h2>
      {tokens.length === 0 ? (
        <p>None yet.</p>
      ) : (
        <Table caption="Tokens in use" head={['Name', 'Ends in', 'Created', 'Last used', 'Expires', '']}>
          {tokens.map((token) => (
            <tr>
              <th scope="row">{token.name}</th>
              <td>
                <code>…{token.lastFour}</code>
              </td>
              <td>
                <Time at={token.createdAt} />
              </td>
              <td>{token.lastUsedAt ? <Time at={token.lastUsedAt} /> : 'never'}</td>
              <td>{token.expiresAt ? <Time at={token.expiresAt} /> : 'never'}</td>
              <td>
                <a href={`/portal/settings/tokens/${token.id}/revoke`} aria-label={`Revoke ${token.name}`}>
                  Revoke
                </a>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>,
    wrong ? 400 : 200,
  );
}

const NewToken = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(200, 'can be at most 200 characters'),
  ),
  expires: v.pipe(
    v.string(),
    v.transform((date) => (date === '' ? undefined : Date.parse(`${date}T00:00:00Z`))),
    v.check((at) => at === undefined || at > Date.now(), 'must be a day in the future'),
  ),
});

async function generate(c: Context) {
  const { one } = await formOf(c);
  const values = { name: one('name'), expires: one('expires') };
  return refusedAs(
    (wrong) => tokensPage(c, { ...wrong, values }),
    async () => {
      const { name, expires } = parse(NewToken, values);
      const { value } = await issueToken(c.env, c.get('caller'), { name, expiresAt: expires });
      const { origin } = new URL(c.req.url);
      return page(
        c,
        'Your new token',
        <>
          <p class="notice">Copy it now: it cannot be shown again.</p>
          <pre>
            <code id="token">{value}</code>
          </pre>
          <div class="actions">
            <button type="button" data-copy="token" hidden>
              Copy
            </button>
            <a href="/portal/settings/tokens">Done</a>
          </div>
          <h2>Try it</h2>
          <pre>
            <code id="curl">{`curl -H 'x-api-key: ${value}' ${origin}/connections`}</code>
          </pre>
          <button type="button" class="outline" data-copy="curl" hidden>
            Copy
          </button>
        </>,
      );
    },
  );
}

async function ownToken(c: Context) {
  const token = (await listTokens(c.env, c.get('caller'))).find(({ id }) => id === c.req.param('id'));
  if (!token) throw notFound();
  return token;
}

async function confirmRevoke(c: Context) {
  const { name } = await ownToken(c);
  return page(
    c,
    `Revoke ${name}?`,
    <Confirm to={c.req.path} does="Revoke" back="/portal/settings/tokens" keeps="Keep it">
      Whoever uses this token is refused from this moment on. It cannot be taken back.
    </Confirm>,
  );
}

async function revoke(c: Context) {
  const { id } = await ownToken(c);
  await revokeToken(c.env, c.get('caller'), id);
  return c.redirect('/portal/settings/tokens', 303);
}

async function peoplePage(c: Context, wrong?: Wrong) {
  const people = await listPortalUsers(c.env, c.get('caller'));
  return page(
    c,
    'People',
    <>
      <p>All of them can do everything here.</p>
      <Problem message={wrong?.message} />
      <form method="post">
        <Field
          name="email"
          label="Email address"
          type="email"
          required
          value={wrong?.values.email ?? ''}
          errors={wrong?.errors ?? []}
        />
        <button type="submit">Invite</button>
      </form>
      <Table caption="People" head={['Address', 'Added', 'Last signed in', '']}>
        {people.map((person) => (
          <tr>
            <th scope="row">{person.email}</th>
            <td>
              <Time at={person.createdAt} />
            </td>
            <td>{person.lastSignInAt ? <Time at={person.lastSignInAt} /> : 'never'}</td>
            <td>
              {person.id === c.get('session').user.id ? (
                'you'
              ) : (
                <a href={`/portal/settings/people/${person.id}/remove`} aria-label={`Remove ${person.email}`}>
                  Remove
                </a>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>,
    wrong ? 400 : 200,
  );
}

async function invite(c: Context) {
  const { one } = await formOf(c);
  const values = { email: one('email') };
  return refusedAs(
    (wrong) => peoplePage(c, { ...wrong, values }),
    async () => {
      const { email } = parse(v.object({ email: Email }), values);
      await addPortalUser(c.env, c.get('caller'), email);
      const link = await createSignInLink(c.env, email);
      const { origin } = new URL(c.req.url);
      c.executionCtx.waitUntil(sendLink(c.env, email, `${origin}/portal/sign-in/${link}`).catch(() => {}));
      return c.redirect('/portal/settings/people', 303);
    },
  );
}

async function ownPerson(c: Context) {
  const people = await listPortalUsers(c.env, c.get('caller'));
  const person = people.find(({ id }) => id === c.req.param('id') && id !== c.get('session').user.id);
  if (!person) throw notFound();
  return person;
}

async function confirmRemove(c: Context) {
  const { email } = await ownPerson(c);
  return page(
    c,
    `Remove ${email}?`,
    <Confirm to={c.req.path} does="Remove" back="/portal/settings/people" keeps="Keep them">
      They are signed out everywhere and can no longer sign in. Tokens they have generated go on working.
    </Confirm>,
  );
}

async function remove(c: Context) {
  const { id } = await ownPerson(c);
  await removePortalUser(c.env, c.get('caller'), id);
  return c.redirect('/portal/settings/people', 303);
}

/** Does the work, and shows a form again that was not filled in well. */
export async function refusedAs(
  again: (wrong: { message: string; errors?: FieldError[] | undefined }) => Promise<Response> | Response,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.failure.kind !== 'invalid') throw error;
    return again({ message: error.failure.message, errors: error.failure.errors });
  }
}
