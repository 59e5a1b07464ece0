import { type Child, useContext } from 'hono/jsx';
import * as v from 'valibot';
import {
  type Connection,
  connectionName,
  maxConnectionsListed,
} from '../../core/fleet/connections.ts';
import { incidentTypes } from '../../core/fleet/incidents/types.ts';
import { ACCIDENT, EVENT } from '../../core/webhooks/notifications/types.ts';
import { WebhookLabels } from '../../core/webhooks/schema.ts';
import { box, boxes, choice, type FormField, line, mapped } from '../../ui/forms/form-fields.tsx';
import { BelowControl, Choices, offered } from '../../ui/forms/forms.tsx';
import { levelOptions, riskOptions } from '../../ui/parts.tsx';
import type { SentForm } from '../../ui/reader.ts';
import { FilledForm } from '../../ui/submit.ts';

const Trimmed = v.pipe(v.string(), v.trim());
const numbers = (field: FormField<string[]>) => mapped(field, (chosen) => chosen.map(Number));

/** For the account's own people. */
export const labels = {
  name: line('Name', WebhookLabels.entries.name, 'For your team. Receivers do not see it.'),
  description: line(
    'Description',
    WebhookLabels.entries.description,
    'Optional: who runs the receiver, what it is for.',
  ),
};

export const address = {
  httpVerb: choice('Method', offered(['POST', 'PUT'])),
  url: line('URL', Trimmed, { type: 'url', required: true }),
};

const accidents =
  'One delivery for each level: first detection, verified, report ready. Needed for claims.';
const events = 'Harsh braking, speeding, phone usage and more, with a risk from 1 to 5.';

/** Sent as they are, like the address, but each as wide as the form. */
export const wide = {
  notificationTypes: numbers(
    boxes(
      'What to send',
      [
        [String(ACCIDENT), 'Accidents', accidents],
        [String(EVENT), 'Safety events', events],
      ],
      { columns: undefined },
    ),
  ),
};

const all = 'All connections, including new ones';
const joins = 'New connections are included automatically.';

export const connections = (known: Connection[] = []) => ({
  allConnections: boxes('Connections', [['true', all, joins]], {
    columns: undefined,
    look: 'form-section',
  }),
  connectionIds: {
    ...boxes('Only these connections', []),
    draw: (_: string, stored: unknown) => (
      <Connections known={known} stored={stored as string[] | undefined} /> // as a webhook has them
    ),
  },
});

/** Of a new webhook. Later, the page about its signatures changes it. */
export const signing = {
  signing: box(
    'Sign deliveries',
    'Lets your receiver verify that a call comes from this service. The next page shows the secret, once.',
  ),
};

export const filters = (groups: string[] = []) => ({
  'filters.minEventRisk': mapped(
    choice('Safety events', riskOptions('Of any risk')),
    (risk) => risk && Number(risk),
  ),
  'filters.incidentTypes': boxes('Only these incident types', offered(incidentTypes)),
  'filters.accidentLevels': numbers(boxes('Only these accident levels', levelOptions)),
  'filters.vehicleGroups': boxes(
    'Only vehicles in these groups',
    offered(groups),
    'Accidents of unknown vehicles are always sent.',
  ),
});

/** The client that gets access tokens. A typed secret comes back, or the old one would be kept. */
export const oauth = (isStored?: boolean) => ({
  'oauth.tokenUrl': line('Token URL', Trimmed, {
    placeholder: 'https://login.example.com/oauth2/token',
  }),
  'oauth.clientId': line('Client ID', Trimmed, { autocomplete: 'off' }),
  'oauth.clientSecret': line('Client secret', Trimmed, {
    type: 'password',
    comesBack: true,
    autocomplete: 'new-password',
    hint: isStored
      ? 'Leave empty to keep it. A new token URL or client ID needs it again.'
      : undefined,
  }),
  'oauth.scope': line('Scope', Trimmed, 'If your token endpoint needs one.'),
  'oauth.params': pairs('Parameter', 'param', {
    legend: 'Parameters',
    hint: [
      'What else your token endpoint needs, such as ',
      <code>audience</code>,
      ' or ',
      <code>resource</code>,
      '. To remove one, empty its name.',
    ],
  }),
});

/** The headers. Names that are `kept` need no value. */
export const headers = (kept: string[] = []) => ({
  headers: pairs('Header', 'header', {
    legend: 'Headers',
    hint:
      'Sent with every delivery. Unless deliveries are signed, anyone who knows the URL can pretend to be us: send a ' +
      'secret, and have your receiver refuse requests without it. Values are stored encrypted. To remove a header, ' +
      'empty its name.',
    kept,
  }),
});

/** The connections to choose from. Those that are chosen and not listed stay so. */
const Connections = ({ known, stored }: { known: Connection[]; stored: string[] | undefined }) => {
  const listed = known.map(({ id }) => id);
  const chosen = useContext(FilledForm)?.values('connectionIds') ?? stored ?? listed;
  const isCut = listed.length === maxConnectionsListed;
  return (
    <>
      {chosen
        .filter((id) => !listed.includes(id))
        .map((id) => (
          <input type="hidden" name="connectionIds" value={id} />
        ))}
      <Choices
        name="connectionIds"
        legend="Only these connections"
        columns={2}
        look="form-section"
        chosen={chosen}
        options={known.map((connection) => [
          connection.id,
          connectionName(connection),
          connection.tsp,
        ])}
        hint={
          listed.length === 0
            ? 'There are no connections yet, so nothing would be sent.'
            : isCut &&
              'Only the first 1,000 connections are listed. Saving leaves the others as they are.'
        }
      />
    </>
  );
};

type Pair = [name: string, value: string];
type PairsProps = { legend: string; hint: Child; kept?: string[] };

/** Names and values in rows, of which two are empty. The names of `kept` values need none. */
function pairs(label: string, of: string, props: PairsProps): FormField<Pair[]> {
  return {
    draw: (name, stored = {}) => (
      <Pairs {...{ name, label, of, stored: stored as object }} {...props} />
    ),
    read: (form) => sentPairs(form, of).filter(([name]) => name !== ''),
    schema: v.array(v.tuple([v.string(), v.string()])),
  };
}

/** What was sent in rows, without empty ones. */
export const sentPairs = (sent: SentForm, of: string): Pair[] => {
  const values = sent.values(`${of}Value`);
  const rows = sent.values(`${of}Name`).map((name, row): Pair => [name.trim(), values[row] ?? '']);
  return rows.filter(([name, value]) => name || value);
};

const Pairs = (props: PairsProps & { name: string; label: string; of: string; stored: object }) => {
  const { name, label, of, stored, legend, hint, kept = [] } = props;
  const sent = useContext(FilledForm);
  const rows = sent ? sentPairs(sent, of) : Object.entries(stored);
  const input = (part: 'Name' | 'Value', row: number, value: string, placeholder = `${part}`) => (
    <input
      class={part === 'Name' ? 'input' : 'input font-mono'}
      name={of + part}
      {...{ value, placeholder }}
      aria-label={`${label} ${row + 1} ${part.toLowerCase()}`}
      autocomplete="off"
      spellcheck={false}
    />
  );
  return (
    <fieldset class="field" id={name} aria-describedby={`${name}-hint ${name}-error`}>
      <legend class="legend mb-1">{legend}</legend>
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
      <div class="pairs">
        <div class="pair pair-head" aria-hidden="true">
          <span>Name</span>
          <span>Value</span>
        </div>
        {[...rows, ['', ''], ['', '']].map(([is = '', value = ''], row) => (
          <div class="pair">
            {input('Name', row, is)}
            {input('Value', row, value, value === '' && kept.includes(is) ? 'unchanged' : 'Value')}
          </div>
        ))}
      </div>
      <BelowControl name={name} />
    </fieldset>
  );
};
