import * as v from 'valibot';
import { invite } from '../../accounts/invitations.ts';
import {
  findPortalUser,
  listPortalUsers,
  type PortalUser,
  removePortalUser,
  setRole,
} from '../../accounts/people.ts';
import { Refusal } from '../../platform/errors.ts';
import { Email, parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { type Role, roles } from '../../platform/roles.ts';
import { emailSignInLinks, linkMinutes } from '../sign-in/sign-in.tsx';
import { Allowed, AskInstead, aRole, roleNames } from '../ui/allowed.tsx';
import { done, type FormProblem, readForm, submit } from '../ui/form.ts';
import {
  Choice,
  Confirm,
  errorOf,
  errorsOfForm,
  Field,
  FieldProblem,
  LinkButton,
  Select,
  Submit,
} from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { type Column, Panel, SlicePager, Table } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { Ago, Day } from '../ui/time.tsx';

const peoplePath = '/portal/settings/people';
const pageSize = 100;

type Draft = { email: string; role: string };

/** Settings, People: who can sign in to the portal, and what they may do there. */
export async function list(c: Context, draft: Draft = { email: '', role: 'member' }, problem?: FormProblem) {
  const slice = requestedSlice(c, pageSize);
  const { items: people, next } = await listPortalUsers(c.env, c.get('caller'), slice);
  return page(
    c,
    { title: 'People', tab: true },
    <>
      <Allowed to={peoplePath}>
        <Invitation draft={draft} problem={problem} />
      </Allowed>
      <Panel
        id="people"
        title="People"
        side={<AskInstead to={peoplePath} what="invite people or change roles" />}
      >
        <Table
          caption="People"
          look="data-cards"
          labels
          columns={columnsFor(c.get('session').user.id)}
          items={people}
        />
        <SlicePager
          c={c}
          count={`${people.length} people on this page`}
          slice={slice}
          next={next}
          names={['First', 'More']}
        />
      </Panel>
    </>,
    problem && 'invalid',
  );
}

/** What each role may do, in a few words. */
const roleNotes: { [role in Role]: string } = {
  admin: 'Everything, people and API tokens included.',
  member: 'Everything but people and API tokens.',
  viewer: 'Sees everything, changes nothing.',
};

const Invitation = ({ draft, problem }: { draft: Draft; problem: FormProblem | undefined }) => (
  <Panel id="invite" title="Invite somebody">
    <form class="panel-body" method="post" action={peoplePath}>
      <div class="grid gap-4 items-end sm:grid-cols-[minmax(0,1fr)_11rem_auto]">
        <Field
          name="email"
          label="Email address"
          type="email"
          required
          value={draft.email}
          placeholder="name@example.com"
          errors={errorsOfForm(problem, 'email')}
        />
        <Select
          name="role"
          label="Role"
          value={draft.role}
          options={roles.map((role) => [role, roleNames[role]])}
        />
        <Submit name="Invite" />
      </div>
      <dl class="facts hint mt-3">
        {roles.map((role) => (
          <>
            <dt>{roleNames[role]}</dt>
            <dd>{roleNotes[role]}</dd>
          </>
        ))}
      </dl>
    </form>
  </Panel>
);

const columnsFor = (you: string): Column<PortalUser>[] => [
  {
    head: 'Email address',
    look: 'card-title',
    cell: ({ email }) => <strong class="font-medium break-words">{email}</strong>,
    more: ({ id }) => id === you && <span class="sub"> (you)</span>,
  },
  { head: 'Role', cell: ({ role }) => roleNames[role] },
  { head: 'Added', look: 'nowrap', cell: ({ createdAt }) => <Day at={createdAt} /> },
  { head: 'Last signed in', look: 'nowrap', cell: (person) => <LastSignIn person={person} /> },
  {
    head: 'Action',
    hideHead: true,
    look: 'end',
    cell: ({ id, email }) => (
      <span class="actions justify-end">
        <LinkButton href={`${peoplePath}/${id}/role`} name="Change role" about={`of ${email}`} small />
        {id !== you && (
          <LinkButton href={`${peoplePath}/${id}/remove`} name="Remove" about={email} weight="danger" small />
        )}
      </span>
    ),
  },
];

const LastSignIn = ({ person: { lastSignInAt, confirmedAt } }: { person: PortalUser }) => {
  if (lastSignInAt !== null) return <Ago at={lastSignInAt} />;
  return confirmedAt === null ? (
    <State mood="quiet" icon="mail">
      Invited
    </State>
  ) : (
    <>Never</>
  );
};

const NewRole = v.object({ role: v.picklist(roles, 'must be admin, member or viewer') });
const Invited = v.object({ email: Email, ...NewRole.entries });

/** The reply is the same whoever the address belongs to: that is nobody's business but its owner's. */
export async function sendInvitation(c: Context) {
  const form = await readForm(c);
  const draft = { email: form.value('email'), role: form.value('role') };
  return submit(
    async () => {
      const invited = parse(Invited, draft);
      const caller = c.get('caller');
      const mayEmail = await invite(c.env, caller, invited);
      if (mayEmail) c.executionCtx.waitUntil(emailSignInLinks(c.env, invited.email, caller.accountId));
      const { email, role } = invited;
      return done(
        c,
        peoplePath,
        `Invited ${email} as ${aRole(role)}. The link works for ${linkMinutes} minutes; after that ` +
          'they can ask for another on the sign-in page.',
      );
    },
    (problem) => list(c, draft, problem),
  );
}

export async function confirmRemove(c: Context) {
  const { email } = await requireOther(c);
  return page(
    c,
    { title: `Remove ${email}?` },
    <Confirm to={c.req.path} confirm={`Remove ${email}`} back={peoplePath} cancel="Cancel">
      They will be signed out everywhere and can no longer sign in. Tokens that they generated keep working.
    </Confirm>,
  );
}

export async function remove(c: Context) {
  const { id, email } = await requireOther(c);
  await removePortalUser(c.env, c.get('caller'), id);
  return done(c, peoplePath, `Removed ${email}. They are signed out everywhere and can no longer sign in.`);
}

/** The person that the path names. @throws Refusal: not found, also for another account's */
async function requirePerson(c: Context) {
  return found(await findPortalUser(c.env, c.get('caller'), c.req.param('id') ?? ''));
}

/** The same, @throws Refusal: not found, also for oneself */
async function requireOther(c: Context): Promise<PortalUser> {
  const person = await requirePerson(c);
  if (person.id === c.get('session').user.id) throw new Refusal({ kind: 'not found' });
  return person;
}

/** Asks for the role of the person that the path names. */
export async function edit(c: Context) {
  const person = await requirePerson(c);
  return showRole(c, person, person.role);
}

/** What somebody may do; `chosen` is the role that is to be theirs. */
function showRole(c: Context, { email }: PortalUser, chosen: string, problem?: FormProblem) {
  const error = errorOf(errorsOfForm(problem, 'role'), 'role');
  return page(
    c,
    { title: `Change the role of ${email}` },
    <section class="panel">
      <form class="panel-body stack" method="post">
        <fieldset class="field" aria-describedby={error && 'role-error'}>
          <legend class="legend">What they may do</legend>
          <div class="choices mt-2">
            {roles.map((role) => (
              <Choice
                type="radio"
                name="role"
                value={role}
                checked={role === chosen}
                label={roleNames[role]}
                note={roleNotes[role]}
              />
            ))}
          </div>
          <FieldProblem id="role-error" message={error} />
        </fieldset>
        <div class="actions">
          <Submit name="Save" />
          <LinkButton href={peoplePath} name="Cancel" weight="ghost" />
        </div>
      </form>
    </section>,
    problem && 'invalid',
  );
}

export async function change(c: Context) {
  const person = await requirePerson(c);
  const draft = { role: (await readForm(c)).value('role') };
  return submit(
    async () => {
      const { role } = parse(NewRole, draft);
      await setRole(c.env, c.get('caller'), person.id, role);
      return done(c, peoplePath, `${person.email} is now ${aRole(role)}.`);
    },
    (problem) => showRole(c, person, draft.role, problem),
  );
}
