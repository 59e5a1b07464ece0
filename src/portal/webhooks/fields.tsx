import { type Connection, maxConnectionsListed } from '../../fleet/connections.ts';
import { incidentTypes } from '../../fleet/incidents/types.ts';
import { newId } from '../../platform/db/ids.ts';
import { timestamp } from '../../platform/fields.ts';
import { outcomeOf } from '../../webhooks/alerts/words.ts';
import type { Attempt } from '../../webhooks/deliveries/record.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../../webhooks/notifications/types.ts';
import { maxWebhookDescription, maxWebhookName } from '../../webhooks/schema.ts';
import { testAccident, testEvent } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import { nameOf } from '../connections/connections.tsx';
import { levelOptions } from '../ui/accidents.tsx';
import { Submit } from '../ui/buttons.tsx';
import { Buttons, Choices, Field, FieldProblem, Form, type Offered, Select } from '../ui/forms.tsx';
import { Note } from '../ui/parts.tsx';
import type { Filled } from '../ui/reader.ts';
import { pathOf } from './words.ts';

export type WebhookFormProps = {
  /** The webhook to edit. */
  webhook: StoredWebhook | undefined;
  /** The form as it was sent, if it is shown again. */
  sent: Filled | undefined;
  connections: Connection[];
  groups: string[];
  revealed: boolean;
  /** A secret to add to the headers. */
  secret?: string;
  /** The result of a test. */
  tried?: Attempt;
};

/** The form of a webhook, with its headers, filters and OAuth 2 client. Each of its buttons sends all of it. */
export const WebhookForm = (props: WebhookFormProps) => {
  const { webhook, sent, connections, groups, tried } = props;
  const listed = new Set(connections.map(({ id }) => id));
  const connectionIds = sent?.values('connectionIds') ?? webhook?.connectionIds ?? [...listed];
  const { filters, oauth } = webhook ?? {};
  return (
    <Form look="form">
      {/* What the Enter key presses: the first button. */}
      <button type="submit" hidden>
        Save
      </button>
      <input type="hidden" name="revision" value={sent?.value('revision') ?? webhook?.revision} />
      {connectionIds
        .filter((id) => !listed.has(id))
        .map((id) => (
          <input type="hidden" name="connectionIds" value={id} />
        ))}
      <section class="form-section">
        <Field
          name="name"
          label="Name"
          value={webhook?.name ?? ''}
          maxlength={maxWebhookName}
          hint="For your team. Receivers do not see it."
        />
        <Field
          name="description"
          label="Description"
          value={webhook?.description ?? ''}
          maxlength={maxWebhookDescription}
          hint="Optional: who runs the receiver, what it is for."
        />
        <div class="grid gap-4 sm:grid-cols-[7rem_minmax(0,1fr)]">
          <Select name="httpVerb" label="Method" value={webhook?.httpVerb ?? 'POST'} options={verbs} />
          <Field name="url" label="URL" type="url" value={webhook?.url} required />
        </div>
      </section>
      <section class="form-section">
        <Choices
          name="notificationTypes"
          legend="What to send"
          chosen={(webhook?.notificationTypes ?? notificationTypes).map(String)}
          options={types}
        />
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
        chosen={connectionIds}
        options={connections.map((connection) => [connection.id, nameOf(connection), connection.tsp])}
        hint={hintFor(connections.length)}
      />
      <Headers {...props} />
      <details class="form-section" id="filters" open={sent !== undefined || filters !== undefined}>
        <summary class="legend">Filters</summary>
        <div class="mt-2 grid gap-4">
          <p class="hint">For new notifications. Without any, the webhook receives everything.</p>
          <Select
            name="filters.minEventRisk"
            label="Safety events"
            value={filters?.minEventRisk?.toString()}
            options={risks}
          />
          <Choices
            name="filters.incidentTypes"
            legend="Only these incident types"
            columns={2}
            chosen={filters?.incidentTypes}
            options={incidentTypes.map((type) => [type, type])}
          />
          <Choices
            name="filters.accidentLevels"
            legend="Only these accident levels"
            columns={2}
            chosen={filters?.accidentLevels?.map(String)}
            options={levelOptions}
          />
          <Choices
            name="filters.vehicleGroups"
            legend="Only vehicles in these groups"
            columns={2}
            chosen={filters?.vehicleGroups}
            options={[...new Set([...groups, ...(filters?.vehicleGroups ?? [])])].map((group) => [
              group,
              group,
            ])}
            hint="Accidents of unknown vehicles are always sent."
          />
        </div>
      </details>
      <details class="form-section" id="oauth" open={sent !== undefined || oauth !== undefined}>
        <summary class="legend">OAuth 2</summary>
        <div class="mt-2 grid gap-4">
          <p class="hint">
            The service gets an access token with these client credentials, and sends it in the header{' '}
            <code>Authorization</code>. Leave all empty to send none.{' '}
            <a href="/docs/webhooks#oauth-2">How it works</a>
          </p>
          <Field
            name="oauth.tokenUrl"
            label="Token URL"
            value={oauth?.tokenUrl}
            placeholder="https://login.example.com/oauth2/token"
          />
          <Field name="oauth.clientId" label="Client ID" value={oauth?.clientId} autocomplete="off" />
          <Field
            name="oauth.clientSecret"
            label="Client secret"
            type="password"
            autocomplete="new-password"
            hint={oauth && 'Leave empty to keep it. A new token URL or client ID needs it again.'}
          />
          <Field
            name="oauth.scope"
            label="Scope"
            value={oauth?.scope}
            hint="If your token endpoint needs one."
          />
        </div>
      </details>
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
          <Submit to="#test" does="test" name="Send a test" icon="send" weight="plain" small />
        </div>
      </section>
      <Buttons
        send={webhook ? 'Save changes' : 'Add webhook'}
        does="save"
        back={webhook ? pathOf(webhook) : '/portal/webhooks'}
      />
    </Form>
  );
};

const secretHeader = 'X-Webhook-Secret';

/** The headers as rows, and two empty ones. Values are hidden until revealed. */
const Headers = ({ webhook, sent, revealed, secret }: WebhookFormProps) => {
  const stored = Object.entries(webhook?.headers ?? {});
  const values = sent?.values('headerValue') ?? (revealed ? stored.map(([, value]) => value) : []);
  const names = sent?.values('headerName') ?? stored.map(([name]) => name);
  const rows = names
    .map((name, row) => ({ name, value: values[row] ?? '' }))
    .filter(({ name, value }) => name || value)
    .filter(({ name }) => !secret || name.toLowerCase() !== secretHeader.toLowerCase());
  const shown = [...rows, ...(secret ? [{ name: secretHeader, value: secret }] : []), empty, empty];
  return (
    <fieldset class="form-section" id="headers" aria-describedby="headers-hint headers-error">
      <legend class="legend mb-1">Headers</legend>
      <p class="hint" id="headers-hint">
        Sent with every delivery. Unless deliveries are signed, anyone who knows the URL can pretend to be us:
        send a secret, and have your receiver refuse requests without it. Values are stored encrypted. To
        remove a header, empty its name.
      </p>
      <div class="pairs">
        <div class="pair pair-head" aria-hidden="true">
          <span>Name</span>
          <span>Value</span>
        </div>
        {shown.map(({ name, value }, row) => {
          const kept = value === '' && Object.hasOwn(webhook?.headers ?? {}, name);
          return (
            <div class="pair">
              <input
                class="input"
                name="headerName"
                value={name}
                placeholder="Name"
                aria-label={`Header ${row + 1} name`}
                autocomplete="off"
                spellcheck={false}
              />
              <input
                class="input font-mono"
                name="headerValue"
                value={value}
                placeholder={kept ? 'unchanged' : 'Value'}
                aria-label={`Header ${row + 1} value`}
                autocomplete="off"
                spellcheck={false}
              />
            </div>
          );
        })}
      </div>
      <FieldProblem name="headers" />
      <div class="actions">
        <Submit to="#headers" does="secret" name="Generate a secret" icon="key-round" weight="plain" small />
        {stored.length > 0 && !revealed && (
          <a class="btn btn-sm btn-ghost" href="?reveal=yes#headers">
            Show header values
          </a>
        )}
      </div>
    </fieldset>
  );
};

const empty = { name: '', value: '' };

const verbs: Offered[] = ['POST', 'PUT'].map((verb) => [verb, verb]);

const hintFor = (connections: number): string | false =>
  connections === 0
    ? 'There are no connections yet, so nothing would be sent.'
    : connections === maxConnectionsListed &&
      'Only the first 1,000 connections are listed. Saving leaves the others as they are.';

const types: Offered[] = [
  [
    String(ACCIDENT),
    'Accidents',
    'One delivery for each level: first detection, verified, report ready. Needed for claims.',
  ],
  [String(EVENT), 'Safety events', 'Harsh braking, speeding, phone usage and more, with a risk from 1 to 5.'],
];

const risks: Offered[] = [
  ['', 'Of any risk'],
  ...['2', '3', '4'].map((risk): Offered => [risk, `Risk ${risk} to 5`]),
  ['5', 'Risk 5'],
];

/** A sample of each type for the receiver. */
const samples: { [one: string]: () => NewNotification[] } = {
  'an accident': () => testAccident({ connectionIds: [newId()] }),
  'a safety event': testEvent,
};

const payloadOf = ([first]: NewNotification[]): string =>
  JSON.stringify({ timestamp: timestamp(Date.now()), type: first?.type, data: first?.data }, null, 2);
