import * as v from 'valibot';
import {
  type Handling,
  handleAccident,
  handlings,
  maxNote,
} from '../../core/fleet/accidents/write.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { Line } from '../../core/platform/fields.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { isPerson } from '../../people/people.ts';
import { Submit } from '../../ui/buttons.tsx';
import { choice, drawn, handles, line } from '../../ui/forms/form-fields.tsx';
import { Form, offered } from '../../ui/forms/forms.tsx';
import { accidentPath, requireAccident } from '../../ui/lists/records.tsx';
import { Facts, Panel } from '../../ui/parts.tsx';
import type { Accident } from '../../ui/read/named-lists.ts';
import { done } from '../../ui/submit.ts';
import { Time } from '../../ui/time.tsx';

const fields = (people: string[] = []) => ({
  assignedTo: {
    ...choice('Assigned to', [['', 'Nobody'], ...offered(people)]),
    schema: v.string(), // the service knows whether they are of the account
  },
  note: line('Note (optional)', Line(maxNote)),
});

/** Handles the form of the accident's page, which `show` shows again with all that was entered. */
export const handlesAccident = (show: (c: Context) => Promise<Response>) =>
  handles(
    fields(),
    show,
    async (c, { assignedTo, note }, form) => {
      const accident = await requireAccident(c);
      const [does] = Object.keys(handlings).filter(
        (one): one is Handling => one === form.value('do'),
      );
      if (!does) throw new Refusal({ kind: 'not found' });
      const by = c.get('session').user.email;
      // What somebody else has changed since the page was shown is kept.
      const handled = {
        ...{ does, by, standing: note || null },
        ...(assignedTo !== form.value('wasAssignedTo') && { assignedTo: assignedTo || null }),
        ...(note !== form.value('wasNote') && { note: note || null }),
      };
      await handleAccident(c.env, c.get('caller'), accident, handled, isPerson);
      return done(c, accidentPath(accident), `The accident is ${handlings[does]}.`);
    },
    '',
  );

/** Whose an accident is, who acknowledged and closed it, and the form for it. Not live: somebody may be typing. */
export const HandlingPanel = ({ accident, people }: { accident: Accident; people: string[] }) => {
  const { assignedTo, note, acknowledged, closed } = accident;
  const known = new Set([...people, ...(assignedTo ? [assignedTo] : [])]);
  return (
    <Panel title="Handling" body="grid gap-3">
      {!acknowledged && !closed && <p class="sub">Nobody has acknowledged it yet.</p>}
      <Facts
        facts={[
          ['Assigned to', assignedTo],
          ['Note', note !== (closed ?? acknowledged)?.note && note],
          ['Acknowledged', acknowledged && <By handled={acknowledged} />],
          ['Closed', closed && <By handled={closed} />],
        ]}
      />
      <Form to={accidentPath(accident)} look="grid gap-3">
        <input type="hidden" name="wasAssignedTo" value={assignedTo ?? ''} />
        <input type="hidden" name="wasNote" value={note ?? ''} />
        {drawn(fields([...known]), accident)}
        <div class="actions">
          {!closed && !acknowledged && <Submit name="Acknowledge" does="acknowledge" />}
          {!closed && <Submit name="Close" does="close" weight="plain" />}
          {closed && <Submit name="Reopen" does="reopen" weight="plain" />}
          <Submit name="Save" does="save" weight="plain" />
        </div>
      </Form>
    </Panel>
  );
};

const By = ({ handled: { at, by, note } }: { handled: NonNullable<Accident['closed']> }) => (
  <>
    by {by}, <Time at={at} />
    {note && <p>{note}</p>}
  </>
);
