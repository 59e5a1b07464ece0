import { Hono } from 'hono';
import * as v from 'valibot';
import { type PortalUser, setRole } from '../../accounts/people.ts';
import { parse } from '../../platform/fields.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { roles } from '../../platform/roles.ts';
import { needs } from '../session/rights.ts';
import { aRole, roleNames } from '../ui/allowed.tsx';
import { done } from '../ui/flash.ts';
import { type FormProblem, readForm, submit } from '../ui/form.ts';
import { Choice, errorOf, errorsOfForm, FieldProblem, LinkButton, Submit } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { peoplePath, requirePerson, roleNotes } from './people.tsx';

/** Settings, People: what somebody may do. */
export const personRolePages = new Hono<App>()
  .get('/settings/people/:id/role', needs('admin'), async (c) => {
    const person = await requirePerson(c);
    return form(c, person, person.role);
  })
  .post('/settings/people/:id/role', needs('admin'), change);

function form(c: Context, { email }: PortalUser, chosen: string, problem?: FormProblem) {
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

const NewRole = v.object({ role: v.picklist(roles, 'must be admin, member or viewer') });

async function change(c: Context) {
  const person = await requirePerson(c);
  const draft = { role: (await readForm(c)).value('role') };
  return submit(
    async () => {
      const { role } = parse(NewRole, draft);
      await setRole(c.env, c.get('caller'), person.id, role);
      return done(c, peoplePath, `${person.email} is now ${aRole(role)}.`);
    },
    (problem) => form(c, person, draft.role, problem),
  );
}
