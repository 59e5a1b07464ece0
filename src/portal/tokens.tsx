import { Hono } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { Name, parse } from '../fields.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { cursorFor, requestedSlice } from '../http/slices.ts';
import { findTokenById, issueToken, listTokens, revokeToken, type Token } from '../tokens/service.ts';
import { limitActions } from './action-limit.ts';
import { Confirm, Field, Problem, Table, Time } from './components.tsx';
import { type FormProblem, readForm, submit } from './form.ts';
import { page } from './layout.tsx';

/** Settings, API Tokens (spec 5.3 and 5.4). */
export const tokenPages = new Hono<App>()
  .get('/settings/tokens', (c) => list(c, { name: '', expires: '' }))
  .post('/settings/tokens', limitActions, generate)
  .get('/settings/tokens/:id/revoke', confirmRevoke)
  .post('/settings/tokens/:id/revoke', revoke);

const pageSize = 100;

type Draft = { name: string; expires: string };

async function list(c: Context, draft: Draft, problem?: FormProblem) {
  const { items: tokens, next } = await listTokens(
    c.env,
    c.get('caller'),
    requestedSlice(c, pageSize),
    'api',
  );
  const errors = problem?.errors ?? [];
  return page(
    c,
    'API Tokens',
    <>
      <p>A token gives full access to the API of this account. Its value is shown only once.</p>
      <Problem message={problem?.message} />
      <form method="post">
        <div class="grid">
          <Field name="name" label="Token name" required value={draft.name} errors={errors} />
          <Field
            name="expires"
            label="Expires (optional)"
            type="date"
            value={draft.expires}
            errors={errors}
          />
        </div>
        <button type="submit">Generate Token</button>
      </form>
      <h2>Active tokens</h2>
      {tokens.length === 0 ? <p>There are no tokens yet.</p> : <Tokens tokens={tokens} />}
      {next && <a href={`${c.req.path}?cursor=${cursorFor(c, next)}`}>Older tokens</a>}
    </>,
    problem && 'invalid',
  );
}

const Tokens = ({ tokens }: { tokens: Token[] }) => (
  <Table
    caption="Active tokens"
    head={['Name', 'Last four characters', 'Created', 'Last used', 'Expires', '']}
  >
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
);

const NewToken = v.object({
  name: Name,
  expires: v.pipe(
    v.string(),
    v.transform((date) => (date === '' ? undefined : Date.parse(`${date}T00:00:00Z`))),
    v.check((at) => at === undefined || at > Date.now(), 'must be a day in the future'),
  ),
});

async function generate(c: Context) {
  const form = await readForm(c);
  const draft = { name: form.value('name'), expires: form.value('expires') };
  return submit(
    async () => {
      const { name, expires } = parse(NewToken, draft);
      const { value } = await issueToken(c.env, c.get('caller'), { name, expiresAt: expires });
      const { origin } = new URL(c.req.url);
      return page(c, 'Your new token', <NewTokenValue value={value} origin={origin} />);
    },
    (problem) => list(c, draft, problem),
  );
}

const NewTokenValue = ({ value, origin }: { value: string; origin: string }) => (
  <>
    <p class="notice">Copy it now. It cannot be shown again.</p>
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
  </>
);

async function confirmRevoke(c: Context) {
  const { name } = await requireToken(c);
  return page(
    c,
    `Revoke ${name}?`,
    <Confirm to={c.req.path} confirm="Revoke" back="/portal/settings/tokens" cancel="Keep it">
      The API will refuse this token immediately. You cannot undo this.
    </Confirm>,
  );
}

async function revoke(c: Context) {
  const { id } = await requireToken(c);
  await revokeToken(c.env, c.get('caller'), id);
  return seeOther(c, '/portal/settings/tokens');
}

/** The token that the path names. @throws Refusal: not found, also for another account's */
async function requireToken(c: Context) {
  const token = await findTokenById(c.env, c.get('caller'), c.req.param('id') ?? '');
  if (!token) throw new Refusal({ kind: 'not found' });
  return token;
}
