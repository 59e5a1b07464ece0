import type { Child } from 'hono/jsx';
import { type Connection, listConnections } from '../../fleet/connections.ts';
import { config } from '../../platform/config.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { retries } from '../../webhooks/deliveries/policy.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { parseWebhook, WebhookLabels } from '../../webhooks/schema.ts';
import { createWebhook, updateWebhook } from '../../webhooks/service.ts';
import { tryReceiver } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import { limitAction } from '../session/rights.ts';
import { done, type FormProblem, submit } from '../ui/form.ts';
import type { IconName } from '../ui/icon-names.ts';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import type { SentForm } from '../ui/reader.ts';
import { Form } from './fields.tsx';
import {
  changedBy,
  eachText,
  type FormState,
  initialOf,
  mergeWebhook,
  parseShown,
  sentFields,
  type WebhookFields,
  wantedOf,
} from './sent.ts';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf, titleOf } from './words.ts';

/** The form of a new webhook, before any input. */
const nothing: WebhookFields = {
  ...eachText(initialOf),
  notificationTypes: [],
  connectionIds: [],
  headers: [],
};

/** Adding and editing a webhook, validated as in the API. */
export async function add(c: Context) {
  const connections = await listConnections(c.env, c.get('caller'));
  const connectionIds = connections.map(({ id }) => id);
  const fields = { ...nothing, notificationTypes: [ACCIDENT, EVENT], connectionIds };
  return formPage(c, undefined, connections, { shown: nothing, fields });
}

export async function edit(c: Context) {
  const [webhook, connections] = await Promise.all([
    requireWebhook(c),
    listConnections(c.env, c.get('caller')),
  ]);
  const shown = shownOf(webhook, connections, isRevealed(c));
  return formPage(c, webhook, connections, { shown, fields: shown });
}

export const saveNew = (c: Context) => take(c, undefined);
export const saveEdited = async (c: Context) => take(c, await requireWebhook(c));

/** Handles the form's buttons: save, test, or show it again with a change. */
function take(c: Context, webhook: StoredWebhook | undefined) {
  const again = async (form: SentForm, state: Partial<FormState> = {}) =>
    formPage(c, webhook, await listConnections(c.env, c.get('caller')), {
      shown: shownIn(form, webhook),
      fields: sentFields(form),
      ...state,
    });
  return submit(
    c,
    async (form) => {
      const shown = shownIn(form, webhook);
      const fields = sentFields(form);
      const wanted = wantedOf(form);
      if (wanted !== 'test' && wanted !== 'save') return again(form, changedBy(wanted, fields, shown));
      if (wanted === 'test') await limitAction(c);
      const merged = mergeWebhook(webhook, shown, fields);
      const input = parseWebhook(merged, {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      if (wanted === 'test') return again(form, { tried: await tryReceiver(c.env, c.get('caller'), input) });
      const labels = parse(WebhookLabels, merged);
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input, {
            revision: webhook.revision,
            labels,
          })
        : await createWebhook(c.env, c.get('caller'), input, labels);
      const name = titleOf({ ...labels, url: saved.url });
      return done(c, pathOf(saved), `Webhook "${name}" was ${webhook ? 'saved' : 'added'}.`);
    },
    (problem, form) => again(form, { problem: inFormWords(problem) }),
  );
}

function formPage(
  c: Context,
  webhook: StoredWebhook | undefined,
  connections: Connection[],
  state: FormState,
) {
  const revealed = isRevealed(c);
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
      <Form
        path={c.req.path}
        cancel={webhook ? pathOf(webhook) : '/portal/webhooks'}
        save={webhook ? 'Save changes' : 'Add webhook'}
        connections={connections}
        revealed={revealed}
        state={state}
      />
      <Duties />
    </div>,
  );
}

const isRevealed = (c: Context): boolean => c.req.query('reveal') === 'yes';

/** What the submitted form has shown. @throws Refusal: invalid */
const shownIn = (form: SentForm, webhook: StoredWebhook | undefined): WebhookFields =>
  webhook ? parseShown(form.value('shown')) : nothing;

/** A webhook as its form shows it: with the listed connections, and with header values if revealed. */
function shownOf(webhook: StoredWebhook, connections: Connection[], revealed: boolean): WebhookFields {
  const { notificationTypes, connectionIds, headers } = webhook;
  const listed = new Set(connections.map(({ id }) => id));
  return {
    ...eachText((field) => String(webhook[field] ?? '')),
    notificationTypes,
    connectionIds: connectionIds.filter((id) => listed.has(id)),
    headers: Object.entries(headers).map(([name, value]) => (revealed ? { name, value } : { name })),
  };
}

/** The API's errors in the form's words, once, under the field. */
function inFormWords({ message, errors }: FormProblem): FormProblem {
  const field = fieldOf[message];
  const named = field ? [{ field, message }] : errors;
  return {
    message: named.length > 0 ? '' : message,
    errors: named.map((error) => ({ ...error, message: words[error.message] ?? error.message })),
  };
}

/** Refusals without a field. */
const fieldOf: { [message: string]: string } = {
  'Webhook with this URL already exist': 'url',
  'Invalid connection ids': 'connectionIds',
};

const words: { [message: string]: string } = {
  'Webhook with this URL already exist': 'Another webhook of your account has this URL.',
  'Invalid connection ids': 'Some of these connections no longer exist. Open the form again.',
  'must be an absolute https URL':
    'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  'must not be a private, local or reserved name, nor this service itself':
    'Must be a public address. Private, local and reserved ones cannot be reached from here.',
  'must use a host name instead of an IP address': 'Must use a host name instead of an IP address.',
  'must not contain a user name or password':
    'Must not contain a user name or password. Use a header for secrets.',
  'must use port 443 or one from 1024 up': 'Must use port 443 or one from 1024 up.',
  'must have at least one value': 'Choose at least one.',
};

/** What a receiver must do, beside the form. */
const Duties = () => (
  <aside class="panel" aria-labelledby="duties">
    <header class="panel-head">
      <h2 id="duties">What your receiver should do</h2>
    </header>
    <ol class="checks panel-body pt-1">
      {duties.map(([icon, duty]) => (
        <li>
          <Icon name={icon} small />
          <span>{duty}</span>
        </li>
      ))}
    </ol>
    <p class="panel-foot">
      <a class="underline" href="/docs/quick-start">
        Receiver examples
      </a>
    </p>
  </aside>
);

const duties: [icon: IconName, duty: Child][] = [
  ['timer', `Return any 2xx status within ${retries.timeoutSeconds} seconds. Do slow work afterwards.`],
  ['shield-check', 'Check the signature or a secret header, and refuse requests without it.'],
  ['copy', ['Ignore repeats by ', <code>Delivery-Id</code>, '.']],
  ['rotate-ccw', `Expect retries: up to ${retries.maxAttempts} attempts over ${retries.hours} hours.`],
];
