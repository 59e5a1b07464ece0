import type { Child } from 'hono/jsx';
import { listConnections } from '../../fleet/connections.ts';
import { config } from '../../platform/config.ts';
import { base64url } from '../../platform/crypto.ts';
import { asCaller } from '../../platform/db/guard.ts';
import { type FieldError, invalid } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { selectGroups } from '../../webhooks/alerts/rules.ts';
import { retries } from '../../webhooks/deliveries/policy.ts';
import { plainFields } from '../../webhooks/fields.ts';
import { parseWebhook, WebhookLabels } from '../../webhooks/schema.ts';
import { createWebhook, updateWebhook } from '../../webhooks/service.ts';
import { tryReceiver } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import { done, showAgain, submit } from '../ui/form.ts';
import type { IconName } from '../ui/icon-names.ts';
import { Icon } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import type { SentForm } from '../ui/reader.ts';
import { WebhookForm, type WebhookFormProps } from './fields.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf, titleOf } from './words.ts';

/** Adding and editing a webhook, validated as in the API. */
export const add = (c: Context) => show(c);
export const edit = (c: Context) => show(c, requireWebhook(c));
export const saveNew = (c: Context) => take(c);
export const saveEdited = async (c: Context) => take(c, await requireWebhook(c));

/** Handles the form's buttons: to save, to send a test, or to generate a secret. The Enter key saves. */
const take = (c: Context, webhook?: StoredWebhook) =>
  submit(
    c,
    async (form) => {
      const pressed = form.value('do');
      if (pressed === 'secret') {
        showAgain(c, form);
        return show(c, webhook, { secret: base64url(crypto.getRandomValues(new Uint8Array(24))) });
      }
      const body = bodyOf(form, webhook);
      const input = parseWebhook(body, {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      if (pressed === 'test') {
        const tried = await tryReceiver(c.env, c.get('caller'), input);
        showAgain(c, form);
        return show(c, webhook, { tried });
      }
      const labels = parse(WebhookLabels, body);
      const revision = form.value('revision');
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input, { revision, labels })
        : await createWebhook(c.env, c.get('caller'), input, labels);
      const name = titleOf({ ...labels, url: saved.url });
      return done(c, pathOf(saved), `Webhook "${name}" was ${webhook ? 'saved' : 'added'}.`);
    },
    () => show(c, webhook),
    inFormWords,
  );

async function show(
  c: Context,
  given?: StoredWebhook | Promise<StoredWebhook>,
  result: Pick<WebhookFormProps, 'secret' | 'tried'> = {},
) {
  const caller = c.get('caller');
  const [webhook, connections, [groups]] = await Promise.all([
    given,
    listConnections(c.env, caller),
    asCaller(c.env, caller, (db) => [selectGroups(db, caller)]),
  ]);
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
      <WebhookForm
        webhook={webhook}
        sent={c.get('shownAgain')}
        connections={connections}
        groups={groups.map(({ name }) => name)}
        revealed={c.req.query('reveal') === 'yes'}
        {...result}
      />
      <Duties />
    </div>,
  );
}

/** What the API would take as body, and the labels. A header without a value keeps the one that it has. */
function bodyOf({ value, values }: SentForm, webhook?: StoredWebhook) {
  const text = (name: string) => value(name).trim();
  const filters = filled({
    minEventRisk: value('filters.minEventRisk') && Number(value('filters.minEventRisk')),
    incidentTypes: values('filters.incidentTypes'),
    vehicleGroups: values('filters.vehicleGroups'),
    accidentLevels: values('filters.accidentLevels').map(Number),
  });
  const oauth = filled({
    tokenUrl: text('oauth.tokenUrl'),
    clientId: text('oauth.clientId'),
    clientSecret: text('oauth.clientSecret'),
    scope: text('oauth.scope'),
  });
  return {
    name: value('name'),
    description: value('description'),
    ...Object.fromEntries(plainFields.map((field) => [field, text(field)])),
    notificationTypes: values('notificationTypes').map(Number),
    connectionIds: values('connectionIds'),
    headers: headersIn(values('headerName'), values('headerValue'), webhook),
    filters,
    oauth: Object.keys(oauth).length > 0 ? oauth : null,
  };
}

/** The fields that are not empty. */
const filled = (fields: { [name: string]: unknown }) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => String(value) !== ''));

/** The headers of the form's rows. @throws Refusal: invalid, if a new one has no value */
function headersIn(names: string[], values: string[], webhook?: StoredWebhook): Record<string, string> {
  const kept = new Map(Object.entries(webhook?.headers ?? {}));
  const rows = names.map((name, row) => [name.trim(), values[row] || kept.get(name.trim())] as const);
  return Object.fromEntries(
    rows
      .filter(([name]) => name !== '')
      .map(([name, value]) => {
        if (value !== undefined) return [name, value];
        throw invalid('A header has no value', [
          { field: 'headers', message: 'need a value, if they are new' },
        ]);
      }),
  );
}

/** An error of the API in the form's words, at its field. */
function inFormWords({ field, message }: FieldError): FieldError {
  const known = words[message] ?? { field, message };
  return { ...known, field: field || known.field };
}

const words: { [message: string]: FieldError } = {
  'Webhook with this URL already exist': {
    field: 'url',
    message: 'Another webhook of your account has this URL.',
  },
  'Invalid connection ids': {
    field: 'connectionIds',
    message: 'Some of these connections no longer exist. Open the form again.',
  },
  'must be an absolute https URL': {
    field: 'url',
    message: 'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  },
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
