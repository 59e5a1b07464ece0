import type { Child } from 'hono/jsx';
import { type Connection, listConnections, maxConnectionsListed } from '../../fleet/connections.ts';
import { incidentTypes } from '../../fleet/incidents/types.ts';
import { asCaller } from '../../platform/db/guard.ts';
import { timestamp } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { selectGroups } from '../../webhooks/alerts/rules.ts';
import { outcomeOf } from '../../webhooks/alerts/words.ts';
import { type Attempt, retries } from '../../webhooks/deliveries/policy.ts';
import type { NewNotification } from '../../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../../webhooks/notifications/types.ts';
import { maxWebhookDescription, maxWebhookName } from '../../webhooks/schema.ts';
import { madeUp } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import { nameOf } from '../connections/connections.tsx';
import { Submit } from '../ui/buttons.tsx';
import { Buttons, Choices, Field, Form, type Offered, Select } from '../ui/forms.tsx';
import type { IconName } from '../ui/icon-names.ts';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { Note, Panel } from '../ui/parts.tsx';
import { levelOptions } from '../ui/states.tsx';
import { Headers, OAuthFields } from './credentials.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** The pages to add and to edit a webhook. */
export const add = (c: Context) => show(c);
export const edit = (c: Context) => show(c, requireWebhook(c));

/** What the form shows besides the webhook: a secret to add to its headers, or the result of a test. */
type Result = { secret?: string; tried?: Attempt };

/** The form of a new webhook, or of the one given. Each of its buttons sends all of it. */
export async function show(c: Context, given?: StoredWebhook | Promise<StoredWebhook>, result: Result = {}) {
  const caller = c.get('caller');
  const [webhook, connections, [groups]] = await Promise.all([
    given,
    listConnections(c.env, caller),
    asCaller(c.env, caller, (db) => [selectGroups(db, caller)]),
  ]);
  const sent = c.get('shownAgain');
  const { filters, oauth } = webhook ?? {};
  const groupNames = new Set([...groups.map(({ name }) => name), ...(filters?.vehicleGroups ?? [])]);
  return page(
    c,
    {
      title: webhook ? 'Edit webhook' : 'Add a webhook',
      above: aboveOf(webhook),
      lead: webhook
        ? 'Changes also apply to pending deliveries.'
        : 'Accidents and safety events are sent to your endpoint as they happen.',
      narrow: true,
    },
    <div class="cols cols-aside">
      <Form look="form">
        {/* What the Enter key presses: the first button. */}
        <button type="submit" hidden>
          Save
        </button>
        <input type="hidden" name="revision" value={sent?.value('revision') ?? webhook?.revision} />
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
          <Sample of="an accident" notifications={madeUp({ type: ACCIDENT }, { connectionIds: [] })} />
          <Sample of="a safety event" notifications={madeUp({ type: EVENT }, { connectionIds: [] })} />
        </section>
        <Choices
          name="allConnections"
          legend="Connections"
          look="form-section"
          chosen={webhook?.allConnections && ['true']}
          options={[
            [
              'true',
              'All connections, including new ones',
              'A new connection joins by itself when it is added.',
            ],
          ]}
        />
        <Connections
          connections={connections}
          chosen={sent?.values('connectionIds') ?? webhook?.connectionIds}
        />
        <Headers
          stored={webhook?.headers ?? {}}
          sent={sent}
          isRevealed={c.req.query('reveal') === 'yes'}
          secret={result.secret}
        />
        <Optional id="filters" title="Filters" isOpen={sent !== undefined || filters !== undefined}>
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
            options={[...groupNames].map((group) => [group, group])}
            hint="Accidents of unknown vehicles are always sent."
          />
        </Optional>
        <Optional id="oauth" title="OAuth 2" isOpen={sent !== undefined || oauth !== undefined}>
          <OAuthFields oauth={oauth} sent={sent} />
        </Optional>
        <Test tried={result.tried} />
        <Buttons
          send={webhook ? 'Save changes' : 'Add webhook'}
          does="save"
          back={webhook ? pathOf(webhook) : '/portal/webhooks'}
        />
      </Form>
      <Duties />
    </div>,
  );
}

const verbs: Offered[] = ['POST', 'PUT'].map((verb) => [verb, verb]);

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

/** A part of the form that most leave closed. */
const Optional = (props: { id: string; title: string; isOpen: boolean; children: Child }) => (
  <details class="form-section" id={props.id} open={props.isOpen}>
    <summary class="legend">{props.title}</summary>
    <div class="mt-2 grid gap-4">{props.children}</div>
  </details>
);

const Sample = ({ of, notifications: [first] }: { of: string; notifications: NewNotification[] }) => (
  <details class="sample">
    <summary>Sample payload of {of}</summary>
    <pre tabindex={0}>
      {JSON.stringify({ timestamp: timestamp(Date.now()), type: first?.type, data: first?.data }, null, 2)}
    </pre>
  </details>
);

/** The connections to choose from. Those that are chosen and not listed stay so. */
const Connections = (props: { connections: Connection[]; chosen: string[] | undefined }) => {
  const { connections } = props;
  const listed = connections.map(({ id }) => id);
  const { chosen = listed } = props;
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
        options={connections.map((connection) => [connection.id, nameOf(connection), connection.tsp])}
        hint={
          listed.length === 0
            ? 'There are no connections yet, so nothing would be sent.'
            : listed.length === maxConnectionsListed &&
              'Only the first 1,000 connections are listed. Saving leaves the others as they are.'
        }
      />
    </>
  );
};

const Test = ({ tried }: { tried: Attempt | undefined }) => (
  <section class="form-section" id="test" aria-labelledby="test-title">
    <div>
      <h2 class="legend" id="test-title">
        Test
      </h2>
      <p class="hint">
        Sends one made-up notification now, exactly as deliveries are sent: with these headers, an access
        token if OAuth 2 is set, and a signature if deliveries are signed. Nothing is saved.
      </p>
    </div>
    {tried && (
      <Note mood={tried.result === 'success' ? 'ok' : 'bad'} role="status">
        <p>
          <strong>{outcomeOf(tried)}</strong>
          {tried.result !== 'success' && tried.status && ' Only a 2xx status counts as delivered.'}
        </p>
        {'answer' in tried && tried.answer && <pre class="answer">{tried.answer}</pre>}
      </Note>
    )}
    <div class="actions">
      <Submit to="#test" does="test" name="Send a test" icon="send" weight="plain" small />
    </div>
  </section>
);

/** What a receiver must do, beside the form. */
const Duties = () => (
  <Panel
    id="duties"
    title="What your receiver should do"
    foot={<a href="/docs/quick-start">Receiver examples</a>}
  >
    <ol class="checks panel-body pt-1">
      {duties.map(([icon, duty]) => (
        <li>
          <Icon name={icon} small />
          <span>{duty}</span>
        </li>
      ))}
    </ol>
  </Panel>
);

const duties: [icon: IconName, duty: Child][] = [
  ['timer', `Return any 2xx status within ${retries.timeoutSeconds} seconds. Do slow work afterwards.`],
  ['shield-check', 'Check the signature or a secret header, and refuse requests without it.'],
  ['copy', ['Ignore repeats by ', <code>Delivery-Id</code>, '.']],
  ['rotate-ccw', `Expect retries: up to ${retries.maxAttempts} attempts over ${retries.hours} hours.`],
];
