import { config } from '../../platform/config.ts';
import { base64url } from '../../platform/crypto.ts';
import { type FieldError, invalid } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { plainFields } from '../../webhooks/fields.ts';
import { parseWebhook, WebhookLabels } from '../../webhooks/schema.ts';
import { createWebhook, updateWebhook } from '../../webhooks/service.ts';
import { tryReceiver } from '../../webhooks/simulate.ts';
import type { StoredWebhook } from '../../webhooks/stored.ts';
import type { SentForm } from '../ui/reader.ts';
import { done, parseForm, showAgain, submit } from '../ui/submit.ts';
import { show } from './form.tsx';
import { requireWebhook } from './webhook.tsx';
import { pathOf, titleOf } from './words.ts';

/** Saving a webhook by its form, validated as in the API. */
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
      const input = parseWebhook(bodyOf(form, webhook), {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      if (pressed === 'test') {
        const tried = await tryReceiver(c.env, c.get('caller'), input, webhook?.id);
        showAgain(c, form);
        return show(c, webhook, { tried });
      }
      const labels = parseForm(WebhookLabels, form);
      const revision = form.value('revision');
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input, { revision, labels })
        : await createWebhook(c.env, c.get('caller'), input, labels);
      const name = titleOf({ ...labels, url: saved.url });
      return done(c, pathOf(saved), `Webhook "${name}" was ${webhook ? 'saved' : 'added'}.`);
    },
    () => show(c, webhook),
    ({ field, message }) => {
      const known = formErrors[message] ?? { field, message };
      return { ...known, field: field || known.field };
    },
  );

/** Errors of the API in the form's words. */
const formErrors: { [message: string]: FieldError } = {
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

/** What the API would take as body. A header without a value keeps the one that it has. */
function bodyOf({ value, values }: SentForm, webhook?: StoredWebhook) {
  const text = (name: string) => value(name).trim();
  const oauth = filled({
    tokenUrl: text('oauth.tokenUrl'),
    clientId: text('oauth.clientId'),
    clientSecret: text('oauth.clientSecret'),
    scope: text('oauth.scope'),
  });
  const params = pairsIn(values('paramName'), values('paramValue'));
  return {
    ...Object.fromEntries(plainFields.map((field) => [field, text(field)])),
    notificationTypes: values('notificationTypes').map(Number),
    ...(value('allConnections') ? { allConnections: true } : { connectionIds: values('connectionIds') }),
    headers: headersIn(pairsIn(values('headerName'), values('headerValue')), webhook),
    filters: filled({
      minEventRisk: value('filters.minEventRisk') && Number(value('filters.minEventRisk')),
      incidentTypes: values('filters.incidentTypes'),
      vehicleGroups: values('filters.vehicleGroups'),
      accidentLevels: values('filters.accidentLevels').map(Number),
    }),
    oauth:
      Object.keys(oauth).length > 0 || params.length > 0
        ? { ...oauth, params: Object.fromEntries(params) }
        : null,
  };
}

/** The fields that are not empty. */
const filled = (fields: { [name: string]: unknown }) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => String(value) !== ''));

/** The rows of the form that have a name. */
const pairsIn = (names: string[], values: string[]): [name: string, value: string][] =>
  names
    .map((name, row): [string, string] => [name.trim(), values[row] ?? ''])
    .filter(([name]) => name !== '');

/** The headers of the form's rows. @throws Refusal: invalid, if a new one has no value */
function headersIn(pairs: [string, string][], webhook?: StoredWebhook): Record<string, string> {
  const kept = new Map(Object.entries(webhook?.headers ?? {}));
  const headers = pairs.map(([name, typed]) => {
    const value = typed || kept.get(name);
    if (value) return [name, value];
    throw invalid('A header has no value', [{ field: 'headers', message: 'need a value, if they are new' }]);
  });
  return Object.fromEntries(headers);
}
