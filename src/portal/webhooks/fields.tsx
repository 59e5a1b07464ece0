import type { Connection } from '../../fleet/connections.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { maxWebhookDescription, maxWebhookName } from '../../webhooks/schema.ts';
import {
  Choice,
  errorOf,
  Field,
  FieldProblem,
  FormButton,
  LinkButton,
  Problem,
  Select,
  Submit,
} from '../ui/forms.tsx';
import { Note } from '../ui/parts.tsx';
import { Headers } from './headers.tsx';
import type { FormState } from './sent.ts';
import { Connections } from './webhook-connections.tsx';
import { accidentSample, eventSample } from './webhook-samples.ts';
import { told } from './words.ts';

/**
 * The form of a webhook. Each of its buttons sends all of it: what it does is its value, and its address leads back to
 * where it stands.
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
  const { shown, fields, find = '', problem, tried } = state;
  const errors = problem?.errors ?? [];
  const to = revealed ? `${path}?reveal=yes` : path;
  return (
    <form class="form" method="post" action={to} novalidate>
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
          value={fields.name}
          maxlength={maxWebhookName}
          hint="For your team. Receivers do not see it."
          errors={errors}
        />
        <Field
          name="description"
          label="Description"
          value={fields.description}
          maxlength={maxWebhookDescription}
          hint="Optional: who runs the receiver, what it is for."
          errors={errors}
        />
        <div class="grid gap-4 sm:grid-cols-[7rem_minmax(0,1fr)]">
          <Select
            name="httpVerb"
            label="Method"
            value={fields.httpVerb}
            options={[
              ['POST', 'POST'],
              ['PUT', 'PUT'],
            ]}
          />
          <Field name="url" label="URL" type="url" required value={fields.url} errors={errors} />
        </div>
      </section>
      <fieldset class="form-section" aria-describedby="types-error">
        <legend class="legend mb-3">What to send</legend>
        <Types chosen={fields.notificationTypes} />
        <FieldProblem id="types-error" message={errorOf(errors, 'notificationTypes')} />
      </fieldset>
      <Connections
        connections={connections}
        chosen={new Set(fields.connectionIds)}
        find={find}
        to={to}
        error={errorOf(errors, 'connectionIds')}
      />
      <Headers state={state} revealed={revealed} to={to} path={path} error={errorOf(errors, 'headers')} />
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
              <strong>{told(tried)}</strong>
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
      <div class="actions">
        <Submit name={save} does="save" />
        <LinkButton href={cancel} name="Cancel" weight="ghost" />
      </div>
    </form>
  );
};

const Types = ({ chosen }: { chosen: number[] }) => (
  <div class="choices">
    <Choice
      type="checkbox"
      name="notificationTypes"
      value={String(ACCIDENT)}
      checked={chosen.includes(ACCIDENT)}
      label="Accidents"
      note="One delivery for each level: first detection, verified, report ready. Needed for claims."
    />
    <Sample name="an accident" sample={accidentSample} />
    <Choice
      type="checkbox"
      name="notificationTypes"
      value={String(EVENT)}
      checked={chosen.includes(EVENT)}
      label="Safety events"
      note="Harsh braking, speeding, phone usage and more, with a risk from 1 to 5."
    />
    <Sample name="a safety event" sample={eventSample} />
  </div>
);

const Sample = ({ name, sample }: { name: string; sample: object }) => (
  <details class="sample">
    <summary>Sample payload of {name}</summary>
    <pre tabindex={0}>{JSON.stringify(sample, null, 2)}</pre>
  </details>
);
