import * as v from 'valibot';
import {
  findPortalUser,
  invite,
  listPortalUsers,
  type PortalUser,
  removePortalUser,
  setRole,
} from '../../accounts/people.ts';
import { Email } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { type Role, roles } from '../../platform/roles.ts';
import { emailSignInLinks, linkMinutes } from '../sign-in/sign-in.tsx';
import { aRole, roleNames } from '../ui/allowed.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Buttons, Choices, confirmed, Field, Form, FormPanel, type Offered, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { found } from '../ui/records.tsx';
import { done, parseForm, submit } from '../ui/submit.ts';
import { acting, type Column, naming, SlicePager, TablePanel } from '../ui/table.tsx';
import { Ago, Day } from '../ui/time.tsx';

const peoplePath = '/portal/settings/people';
const pageSize = 100;

/** Settings, People. */
export async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const { items: people, next } = await listPortalUsers(c.env, c.get('caller'), slice);
  return page(
    c,
    { title: 'People' },
    <>
      <FormPanel
        id="invite"
        title="Invite a person"
        to={peoplePath}
        send="Invite"
        line="sm:grid-cols-[minmax(0,1fr)_11rem_auto]"
        hint={<a href="/docs/portal#roles">What each role may do</a>}
      >
        <Field name="email" label="Email address" type="email" required placeholder="name@example.com" />
        <Select name="role" label="Role" value="member" options={roleChoices} />
      </FormPanel>
      <TablePanel
        id="people"
        title="People"
        stacked
        columns={columnsFor(c.get('session').user.id)}
        items={people}
      >
        <SlicePager {...{ c, slice, next }} count={`${people.length} people on this page`} />
      </TablePanel>
    </>,
  );
}

const roleNotes: { [role in Role]: string } = {
  admin: 'Can do everything, including managing people, API tokens and exports.',
  member: 'Can do everything except manage people, API tokens and exports.',
  viewer: 'Can see everything but change nothing.',
};

const roleChoices = roles.map((role): Offered => [role, roleNames[role], roleNotes[role]]);

const columnsFor = (you: string): Column<PortalUser>[] => [
  naming(
    'Email address',
    ({ email }) => email,
    ({ id }) => id === you && <span class="sub"> (you)</span>,
  ),
  { head: 'Role', cell: ({ role }) => roleNames[role] },
  { head: 'Added', look: 'nowrap', cell: ({ createdAt }) => <Day at={createdAt} /> },
  { head: 'Last signed in', look: 'nowrap', cell: lastSignIn },
  acting(({ id, email }) => (
    <span class="actions justify-end">
      <LinkButton href={`${peoplePath}/${id}/role`} name="Change role" about={`of ${email}`} small />
      <LinkButton href={`${peoplePath}/${id}/remove`} name="Remove" about={email} weight="danger" small />
    </span>
  )),
];

function lastSignIn({ lastSignInAt, confirmedAt }: PortalUser) {
  if (lastSignInAt !== null) return <Ago at={lastSignInAt} />;
  return confirmedAt === null ? 'Invited' : 'Never';
}

const NewRole = v.object({ role: v.picklist(roles, 'must be admin, member or viewer') });
const Invited = v.object({ email: Email, ...NewRole.entries });

/** The response is the same whoever the address belongs to, so that it reveals nothing. */
export const sendInvitation = (c: Context) =>
  submit(
    c,
    async (form) => {
      const invited = parseForm(Invited, form);
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
    () => list(c),
    'email',
  );

export const remove = confirmed(async (c) => {
  const { id, email } = await requirePerson(c);
  return {
    title: `Remove ${email}?`,
    text: 'They will be signed out everywhere and can no longer sign in. Tokens that they generated keep working.',
    does: () => removePortalUser(c.env, c.get('caller'), id),
    said: `Removed ${email}. They are signed out everywhere and can no longer sign in.`,
    back: peoplePath,
  };
});

/** The person in the path. @throws Refusal: not found, also for another account's */
async function requirePerson(c: Context) {
  return found(await findPortalUser(c.env, c.get('caller'), c.req.param('id') ?? ''));
}

/** The form for a person's role. */
export async function edit(c: Context) {
  const { email, role } = await requirePerson(c);
  return page(
    c,
    { title: `Change the role of ${email}` },
    <section class="panel">
      <Form look="panel-body stack">
        <Choices type="radio" name="role" legend="Role" chosen={[role]} options={roleChoices} />
        <Buttons send="Save" back={peoplePath} />
      </Form>
    </section>,
  );
}

export async function change(c: Context) {
  const { id, email } = await requirePerson(c);
  return submit(
    c,
    async (form) => {
      const { role } = parseForm(NewRole, form);
      await setRole(c.env, c.get('caller'), id, role);
      return done(c, peoplePath, `${email} is now ${aRole(role)}.`);
    },
    () => edit(c),
    'role',
  );
}
