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
import type { Accident } from '../read/named-lists.ts';
import { Submit } from '../ui/buttons.tsx';
import { choice, drawn, handles, line } from '../ui/fields.tsx';
import { Form, offered } from '../ui/forms.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { accidentPath } from '../ui/records.tsx';
import { done } from '../ui/submit.ts';
import { Time } from '../ui/time.tsx';
import { requireAccident } from './course.tsx';

const fields = (people: string[] = []) => ({
  assignedTo: {
    ...choice('Assigned to', [['', 'Nobody'], ...offered(people)]),
    schema: v.string(), // the service knows whether they are of the account
  },
  note: line('Note (optional)', Line(maxNote)),
});

/** Handles the form of the accident's page, which `show` shows again. */
export const handlesAccident = (show: (c: Context) => Promise<Response>) =>
  handles(fields(), show, async (c, { assignedTo, note }, form) => {
    const accident = await requireAccident(c);
    const [does] = Object.keys(handlings).filter(
      (one): one is Handling => one === form.value('do'),
    );
    if (!does) throw new Refusal({ kind: 'not found' });
    const by = c.get('session').user.email;
    const handled = { does, by, note: note || null, to: assignedTo || null };
    return (await handleAccident(c.env, c.get('caller'), accident, handled, isPerson))
      ? done(c, accidentPath(accident), `The accident is ${handlings[does]}.`)
      : done(
          c,
          accidentPath(accident),
          'Nothing was changed: somebody else has done it already.',
          'warn',
        );
  });

/** Whose an accident is, who acknowledged and closed it, and the form for it. Not live: somebody may be typing. */
export const HandlingPanel = ({ accident, people }: { accident: Accident; people: string[] }) => {
  const { assignedTo, acknowledged, closed } = accident;
  const known = new Set([...people, ...(assignedTo ? [assignedTo] : [])]);
  return (
    <Panel title="Handling" body="grid gap-3">
      {!acknowledged && !closed && <p class="sub">Nobody has acknowledged it yet.</p>}
      <Facts
        facts={[
          ['Assigned to', assignedTo],
          ['Acknowledged', acknowledged && <By handled={acknowledged} />],
          ['Closed', closed && <By handled={closed} />],
        ]}
      />
      <Form to={accidentPath(accident)} look="grid gap-3">
        {!closed && drawn(fields([...known]), accident)}
        <div class="actions">
          {closed && <Submit name="Reopen" does="reopen" weight="plain" />}
          {!closed && <Submit name="Assign" does="assign" weight="plain" />}
          {!closed && !acknowledged && (
            <Submit name="Acknowledge" does="acknowledge" weight="plain" />
          )}
          {!closed && <Submit name="Close" does="close" weight="plain" />}
        </div>
      </Form>
    </Panel>
  );
};

const By = ({ handled: { at, by, note } }: { handled: NonNullable<Accident['closed']> }) => (
  <>
    by {by}, <Time at={at} />
    {note && <p class="break-words">{note}</p>}
  </>
);
