import { Hono } from 'hono';
import * as v from 'valibot';
import { invite } from '../accounts/invitations.ts';
import {
  Email,
  findPortalUser,
  listPortalUsers,
  type PortalUser,
  removePortalUser,
} from '../accounts/people.ts';
import { Refusal } from '../errors.ts';
import { parse } from '../fields.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { cursorFor, requestedSlice } from '../http/slices.ts';
import { limitActions } from './action-limit.ts';
import { Confirm, Field, Problem, Table, Time } from './components.tsx';
import { type FormProblem, readForm, submit } from './form.ts';
import { page } from './layout.tsx';
import { emailSignInLinks } from './sign-in-email.ts';

/** Settings, People: who can sign in to the portal. */
export const peoplePages = new Hono<App>()
  .get('/settings/people', (c) => list(c, ''))
  .post('/settings/people', limitActions, sendInvitation)
  .get('/settings/people/:id/remove', confirmRemove)
  .post('/settings/people/:id/remove', remove);

const pageSize = 100;

async function list(c: Context, email: string, problem?: FormProblem) {
  const { items: people, next } = await listPortalUsers(c.env, c.get('caller'), requestedSlice(c, pageSize));
  return page(
    c,
    'People',
    <>
      <p>Everyone listed here has full access to this account once they have signed in.</p>
      <Problem message={problem?.message} />
      <form method="post">
        <Field
          name="email"
          label="Email address"
          type="email"
          required
          value={email}
          hint="We email them a link to sign in, at most once an hour."
          errors={problem?.errors ?? []}
        />
        <button type="submit">Invite</button>
      </form>
      <People people={people} you={c.get('session').user.id} />
      {next && <a href={`${c.req.path}?cursor=${cursorFor(c, next)}`}>More people</a>}
    </>,
    problem && 'invalid',
  );
}

const People = ({ people, you }: { people: PortalUser[]; you: string }) => (
  <Table caption="People" head={['Email address', 'Added', 'Last signed in', '']}>
    {people.map((person) => (
      <tr>
        <th scope="row">{person.email}</th>
        <td>
          <Time at={person.createdAt} />
        </td>
        <td>{lastSignInOf(person)}</td>
        <td>
          {person.id === you ? (
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
);

const lastSignInOf = ({ lastSignInAt, confirmedAt }: PortalUser) => {
  if (lastSignInAt !== null) return <Time at={lastSignInAt} />;
  return confirmedAt === null ? 'invited' : 'never';
};

/** The reply is the same whoever the address belongs to: that is nobody's business but its owner's. */
async function sendInvitation(c: Context) {
  const form = await readForm(c);
  const draft = form.value('email');
  return submit(
    async () => {
      const { email } = parse(v.object({ email: Email }), { email: draft });
      const caller = c.get('caller');
      const mayEmail = await invite(c.env, caller, email);
      if (mayEmail) c.executionCtx.waitUntil(emailSignInLinks(c.env, email, caller.accountId));
      return seeOther(c, '/portal/settings/people');
    },
    (problem) => list(c, draft, problem),
  );
}

async function confirmRemove(c: Context) {
  const { email } = await requireOther(c);
  return page(
    c,
    `Remove ${email}?`,
    <Confirm to={c.req.path} confirm="Remove" back="/portal/settings/people" cancel="Keep them">
      They will be signed out everywhere and can no longer sign in. Tokens that they generated keep working.
    </Confirm>,
  );
}

async function remove(c: Context) {
  const { id } = await requireOther(c);
  await removePortalUser(c.env, c.get('caller'), id);
  return seeOther(c, '/portal/settings/people');
}

/** The person that the path names. @throws Refusal: not found, also for oneself and for another account's */
async function requireOther(c: Context): Promise<PortalUser> {
  const person = await findPortalUser(c.env, c.get('caller'), c.req.param('id') ?? '');
  if (!person || person.id === c.get('session').user.id) throw new Refusal({ kind: 'not found' });
  return person;
}
