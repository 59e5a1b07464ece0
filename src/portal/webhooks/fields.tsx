import { type Connection, maxConnectionsListed } from '../../fleet/connections.ts';
import { newId } from '../../platform/db/ids.ts';
import { timestamp } from '../../platform/fields.ts';
import { outcomeOf } from '../../webhooks/alerts/words.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { maxWebhookDescription, maxWebhookName } from '../../webhooks/schema.ts';
import { testAccident, testEvent } from '../../webhooks/simulate.ts';
import { nameOf } from '../connections/connections.tsx';
import { FormButton } from '../ui/buttons.tsx';
import { FilledForm } from '../ui/form.ts';
import { Buttons, Choices, Field, type Offered, Problem, Select } from '../ui/forms.tsx';
import { Note } from '../ui/parts.tsx';
import type { Filled } from '../ui/reader.ts';
import { Headers } from './headers.tsx';
import type { FormState } from './sent.ts';

/**
 * The form of a webhook. Each button sends all of it; its value names the action, its address the place to return to.
 */
export const Form = (props: {
  path: string;
  cancel: string;
  save: string;
  connections: Connection[];
  revealed: boolean;
  state: FormState;
}) => {
  const { path, cancel, save, connections, revealed, state } = props;
  const { shown, problem, tried } = state;
  const to = revealed ? `${path}?reveal=yes` : path;
  return (
    <form class="form" method="post" action={to} novalidate>
      <FilledForm.Provider value={filledWith(state)}>
        {/* What the Enter key presses: the first button. */}
        <button type="submit" hidden>
          {save}
        </button>
        <input type="hidden" name="shown" value={JSON.stringify(shown)} />
        <Problem message={problem?.message || undefined} />
        <section class="form-section">
          <Field
            name="name"
            label="Name"
            maxlength={maxWebhookName}
            hint="For your team. Receivers do not see it."
          />
          <Field
            name="description"
            label="Description"
            maxlength={maxWebhookDescription}
            hint="Optional: who runs the receiver, what it is for."
          />
          <div class="grid gap-4 sm:grid-cols-[7rem_minmax(0,1fr)]">
            <Select name="httpVerb" label="Method" options={['POST', 'PUT'].map((verb) => [verb, verb])} />
            <Field name="url" label="URL" type="url" required />
          </div>
        </section>
        <section class="form-section">
          <Choices name="notificationTypes" legend="What to send" options={types} />
          {Object.entries(samples).map(([one, sample]) => (
            <details class="sample">
              <summary>Sample payload of {one}</summary>
              <pre tabindex={0}>{payloadOf(sample())}</pre>
            </details>
          ))}
        </section>
        <Choices
          name="connectionIds"
          legend="Connections"
          columns={2}
          look="form-section"
          options={connections.map((connection) => [connection.id, nameOf(connection), connection.tsp])}
          hint={hintFor(connections.length)}
        />
        <Headers state={state} revealed={revealed} to={to} path={path} />
        <section class="form-section" id="test" aria-labelledby="test-title">
          <div>
            <h2 class="legend" id="test-title">
              Test
            </h2>
            <p class="hint">
              Sends one made-up notification to this URL with these headers, now. Nothing is saved.
            </p>
          </div>
          {tried && (
            <Note mood={tried.result === 'success' ? 'ok' : 'bad'} role="status">
              <p>
                <strong>{outcomeOf(tried)}</strong>
                {tried.result !== 'success' && ' Only a 2xx status counts as delivered.'}
              </p>
              {'answer' in tried && tried.answer && <pre class="answer">{tried.answer}</pre>}
            </Note>
          )}
          <div class="actions">
            <FormButton to={`${to}#test`} does="test" icon="send">
              Send a test
            </FormButton>
          </div>
        </section>
        <Buttons send={save} does="save" back={cancel} />
      </FilledForm.Provider>
    </form>
  );
};

const hintFor = (connections: number): string | false =>
  connections === 0
    ? 'There are no connections yet, so nothing would be sent.'
    : connections === maxConnectionsListed &&
      'Only the first 1,000 connections are listed. Saving leaves the others as they are.';

const filledWith = ({ fields, problem }: FormState): Filled => ({
  value: (name) =>
    Object.entries<unknown>(fields)
      .find(([field]) => field === name)?.[1]
      ?.toString() ?? '',
  values: (name) => (name === 'connectionIds' ? fields.connectionIds : fields.notificationTypes.map(String)),
  errors: problem?.errors ?? [],
});

const types: Offered[] = [
  [
    String(ACCIDENT),
    'Accidents',
    'One delivery for each level: first detection, verified, report ready. Needed for claims.',
  ],
  [String(EVENT), 'Safety events', 'Harsh braking, speeding, phone usage and more, with a risk from 1 to 5.'],
];

/** A sample of each type for the receiver. */
const samples: { [one: string]: () => NewNotification[] } = {
  'an accident': () => testAccident({ connectionIds: [newId()] }),
  'a safety event': testEvent,
};

const payloadOf = ([first]: NewNotification[]): string =>
  JSON.stringify({ timestamp: timestamp(Date.now()), type: first?.type, data: first?.data }, null, 2);
