import { dayMs } from '../../core/platform/durations.ts';
import { Email } from '../../core/platform/fields.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { type Role, roles } from '../../core/platform/roles.ts';
import { declared } from '../../extras.ts';
import { invite } from '../../people/invitations.ts';
import * as people from '../../people/people.ts';
import { invitationMs } from '../../people/sessions.ts';
import { aRole, LinkButton, roleNames } from '../../ui/buttons.tsx';
import {
  choice,
  confirmed,
  FormPanel,
  formPage,
  handles,
  line,
  radios,
} from '../../ui/forms/form-fields.tsx';
import type { Offered } from '../../ui/forms/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { done } from '../../ui/submit.ts';
import { acting, type Column, naming, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Ago, Day } from '../../ui/time.tsx';
import { emailInvitation } from '../sign-in/sign-in.tsx';

const peoplePath = '/portal/settings/people';

/** Settings, People. */
export async function list(c: Context) {
  const shown = await sliceOn(c, 100, ['person', 'people'], people.listPortalUsers);
  return page(
    c,
    { title: 'People' },
    <>
      <FormPanel
        title="Invite a person"
        to={peoplePath}
        send="Invite"
        line="sm:grid-cols-[minmax(0,1fr)_11rem_auto]"
        hint={<a href="/docs/portal#roles">What each role may do</a>}
        fields={invited}
        stored={{ role: 'member' }}
      />
      <TablePanel
        title="People"
        stacked
        columns={columnsFor(c.get('session').user.id)}
        {...shown}
      />
    </>,
  );
}

const roleNotes: { [role in Role]: string } = {
  admin: 'Can do everything, including managing people, API tokens and exports.',
  member: 'Can do everything except manage people, API tokens and exports.',
  viewer: 'Can see everything but change nothing.',
};

const roleChoices = roles.map((role): Offered<Role> => [role, roleNames[role], roleNotes[role]]);

const invited = {
  email: line('Email address', Email, {
    type: 'email',
    required: true,
    placeholder: 'name@example.com',
  }),
  role: choice('Role', roleChoices),
};

const columnsFor = (you: string): Column<people.PortalUser>[] => [
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
      <LinkButton
        href={`${peoplePath}/${id}/role`}
        name="Change role"
        about={`of ${email}`}
        small
      />
      <LinkButton
        href={`${peoplePath}/${id}/remove`}
        name="Remove"
        about={email}
        weight="danger"
        small
      />
    </span>
  )),
];

function lastSignIn({ lastSignInAt, confirmedAt }: people.PortalUser) {
  if (lastSignInAt !== null) return <Ago at={lastSignInAt} />;
  return confirmedAt === null ? 'Invited' : 'Never';
}

/** The response is the same whoever the address belongs to, so that it reveals nothing. */
export const sendInvitation = handles(invited, list, async (c, { email, role }) => {
  const caller = c.get('caller');
  const mayEmail = await invite(...by(c), { email, role });
  if (mayEmail) c.executionCtx.waitUntil(emailInvitation(c.env, email, caller.accountId));
  const later = 'after that they can ask for another on the sign-in page.';
  const said = `Invited ${email} as ${aRole(role)}. The link works for ${invitationMs / dayMs} days; ${later}`;
  return done(c, peoplePath, said);
});

/** What extras refuse to change of a person. */
const unless = (...person: Parameters<people.Guard>) =>
  declared('people').map(({ changed }) => changed?.(...person));

export const remove = confirmed(async (c) => {
  const { id, email } = await inPath(c, people.findPortalUser);
  return {
    title: `Remove ${email}?`,
    text: 'They will be signed out everywhere and can no longer sign in. Tokens that they generated keep working.',
    does: () => people.removePortalUser(...by(c), id, unless),
    said: `Removed ${email}. They are signed out everywhere and can no longer sign in.`,
    back: peoplePath,
  };
});

/** The page with the form for a person's role. */
export async function changeRole(c: Context) {
  const { id, email, role } = await inPath(c, people.findPortalUser);
  return formPage(c, {
    title: `Change the role of ${email}`,
    back: peoplePath,
    fields: { role: radios('Role', roleChoices) },
    stored: { role },
    save: async ({ role }) => {
      await people.setRole(...by(c), id, role, unless);
      return done(c, peoplePath, `${email} is now ${aRole(role)}.`);
    },
  });
}
