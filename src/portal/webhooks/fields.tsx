import { type Connection, maxConnectionsListed } from '../../fleet/connections.ts';
import { newId } from '../../platform/db/ids.ts';
import { timestamp } from '../../platform/fields.ts';
import { outcomeOf } from '../../webhooks/alerts/words.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { maxWebhookDescription, maxWebhookName } from '../../webhooks/schema.ts';
import { testAccident, testEvent } from '../../webhooks/simulate.ts';
import { nameOf } from '../connections/connections.tsx';
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

/** The form of a webhook. Each button sends all of it; its value says what it does, its address where it is. */
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
      <div class="actions">
        <Submit name={save} does="save" />
        <LinkButton href={cancel} name="Cancel" weight="ghost" />
      </div>
    </form>
  );
};

/** The types of notifications to choose from, each with what a receiver would get now. */
const types = [
  {
    type: ACCIDENT,
    label: 'Accidents',
    note: 'One delivery for each level: first detection, verified, report ready. Needed for claims.',
    one: 'an accident',
    sample: () => testAccident({ connectionIds: [newId()] }),
  },
  {
    type: EVENT,
    label: 'Safety events',
    note: 'Harsh braking, speeding, phone usage and more, with a risk from 1 to 5.',
    one: 'a safety event',
    sample: testEvent,
  },
];

const Types = ({ chosen }: { chosen: number[] }) => (
  <div class="choices">
    {types.map(({ type, label, note, one, sample }) => (
      <>
        <Choice
          type="checkbox"
          name="notificationTypes"
          value={String(type)}
          checked={chosen.includes(type)}
          label={label}
          note={note}
        />
        <details class="sample">
          <summary>Sample payload of {one}</summary>
          <pre tabindex={0}>{payloadOf(sample())}</pre>
        </details>
      </>
    ))}
  </div>
);

const payloadOf = ([first]: NewNotification[]): string =>
  JSON.stringify({ timestamp: timestamp(Date.now()), type: first?.type, data: first?.data }, null, 2);

/** With more connections than this there is a search. */
const plenty = 8;

/** The connections to be notified of. A search narrows what is listed; what is chosen stays chosen. */
const Connections = (props: {
  connections: Connection[];
  chosen: Set<string>;
  find: string;
  to: string;
  error: string | undefined;
}) => {
  const { connections, chosen, find, to, error } = props;
  const matches = connections.filter((connection) => isFound(connection, find));
  const others = connections.filter(({ id }) => chosen.has(id) && !matches.some((match) => match.id === id));
  return (
    <fieldset class="form-section" id="connections" aria-describedby="connections-error">
      <legend class="legend mb-3">Connections</legend>
      {connections.length === 0 && (
        <p class="hint">There are no connections yet, so nothing would be sent.</p>
      )}
      {connections.length > plenty && (
        <div class="search">
          <label class="sr-only" for="find">
            Find connections
          </label>
          <input
            class="input"
            id="find"
            name="find"
            type="search"
            value={find}
            placeholder="Find by name or provider"
            data-filter="connection-choices"
          />
          <input type="hidden" name="found" value={find} />
          <FormButton to={`${to}#connections`} does="find" icon="search">
            Find
          </FormButton>
        </div>
      )}
      {find !== '' && (
        <p class="hint">
          {matches.length} of {connections.length} match “{find}”. {chosen.size} are chosen; those that are
          not listed stay chosen.
        </p>
      )}
      {others.map(({ id }) => (
        <input type="hidden" name="connectionIds" value={id} />
      ))}
      <div
        class={`choices choices-2${connections.length > plenty ? ' choices-many' : ''}`}
        id="connection-choices"
      >
        {matches.map((connection) => (
          <Choice
            type="checkbox"
            name="connectionIds"
            value={connection.id}
            checked={chosen.has(connection.id)}
            label={nameOf(connection)}
            note={connection.tsp}
          />
        ))}
      </div>
      {connections.length === maxConnectionsListed && (
        <p class="hint">Only the first 1,000 connections are listed. Saving leaves the others as they are.</p>
      )}
      <FieldProblem id="connections-error" message={error} />
    </fieldset>
  );
};

const isFound = (connection: Connection, find: string): boolean =>
  `${nameOf(connection)} ${connection.provider} ${connection.tsp}`
    .toLowerCase()
    .includes(find.trim().toLowerCase());
