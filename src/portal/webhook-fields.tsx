import { type Connection, maxConnectionsListed } from '../accounts/connections.ts';
import type { FieldError } from '../errors.ts';
import { notificationTypes } from '../notifications/types.ts';
import { Field } from './components.tsx';
import { nameOf } from './connections.tsx';
import type { WebhookFields } from './webhook-merge.ts';
import { typeNames } from './webhooks.tsx';

/** The fields of a webhook's form. `shown` is what the form held when it was opened. */
export const Fields = (props: {
  fields: WebhookFields;
  shown: WebhookFields;
  connections: Connection[];
  revealed: boolean;
  errors: FieldError[];
}) => {
  const { fields, shown, connections, revealed, errors } = props;
  return (
    <>
      <Field
        name="url"
        label="URL"
        required
        value={fields.url}
        hint="An https URL that responds with 2xx within 15 seconds"
        errors={errors}
      />
      <label>
        HTTP method
        <select name="httpVerb">
          {['POST', 'PUT'].map((verb) => (
            <option selected={verb === fields.httpVerb}>{verb}</option>
          ))}
        </select>
      </label>
      <fieldset>
        <legend>Subscribe to</legend>
        {notificationTypes.map((type) => (
          <Checkbox
            name="notificationTypes"
            value={String(type)}
            checked={fields.notificationTypes.includes(type)}
            label={typeNames[type]}
          />
        ))}
      </fieldset>
      <Connections connections={connections} chosen={new Set(fields.connectionIds)} />
      <HeaderRows rows={fields.headers} shown={shown.headers} revealed={revealed} errors={errors} />
    </>
  );
};

const Checkbox = ({ label, ...input }: { name: string; value: string; checked: boolean; label: string }) => (
  <label>
    <input type="checkbox" {...input} />
    {label}
  </label>
);

const Connections = ({ connections, chosen }: { connections: Connection[]; chosen: Set<string> }) => (
  <fieldset>
    <legend>Connections</legend>
    {connections.length === 0 && <p>There are no connections yet.</p>}
    {connections.map((connection) => (
      <Checkbox
        name="connectionIds"
        value={connection.id}
        checked={chosen.has(connection.id)}
        label={`${nameOf(connection)} (${connection.provider})`}
      />
    ))}
    {connections.length === maxConnectionsListed && (
      <small>Only the first 1,000 connections are listed. Saving leaves the others as they are.</small>
    )}
  </fieldset>
);

const newRows = 3;

/** Rows that were shown stay in their places, because the place tells which header a row is about. */
const HeaderRows = (props: {
  rows: WebhookFields['headers'];
  shown: WebhookFields['headers'];
  revealed: boolean;
  errors: FieldError[];
}) => {
  const { rows, shown, revealed, errors } = props;
  const filled = rows.filter(({ name, value }, place) => place < shown.length || name || value);
  const error = errors.find(({ field }) => field === 'headers');
  return (
    <fieldset>
      <legend>Custom headers</legend>
      {error && <small role="alert">{error.message}</small>}
      {[...filled, ...Array.from({ length: newRows }, () => ({ name: '', value: '' }))].map((row, place) => (
        <div class="pair">
          <input
            name="headerName"
            value={row.name}
            aria-label={`Header ${place + 1} name`}
            autocomplete="off"
          />
          <input
            name="headerValue"
            value={row.value}
            type={revealed ? 'text' : 'password'}
            placeholder={shown[place] && !revealed ? 'unchanged' : undefined}
            aria-label={`Header ${place + 1} value`}
            autocomplete="new-password"
          />
        </div>
      ))}
    </fieldset>
  );
};
