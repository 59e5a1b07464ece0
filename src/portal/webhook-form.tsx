import { Hono } from 'hono';
import { config } from '../config.ts';
import type { FieldError } from '../errors.ts';
import { connections as connectionList } from '../fleet/connections.ts';
import { readList } from '../fleet/service.ts';
import type { App, Context } from '../http/context.ts';
import { parseWebhook } from '../webhooks/schema.ts';
import { createWebhook, updateWebhook, type Webhook } from '../webhooks/service.ts';
import { formOf } from './context.ts';
import { Field, Problem, page } from './layout.tsx';
import { refusedAs } from './settings.tsx';
import { requireWebhook, typeNames } from './webhooks.tsx';

/** Creating and editing a webhook, with the checks and messages of the API. */
export const webhookForms = new Hono<App>()
  .get('/webhooks/new', (c) => form(c, undefined))
  .post('/webhooks/new', save)
  .get('/webhooks/:id/edit', async (c) => form(c, await requireWebhook(c)))
  .post('/webhooks/:id/edit', save);

type Draft = {
  url: string;
  httpVerb: string;
  connectionIds: string[];
  notificationTypes: number[];
  headers: [name: string, value: string][];
};

async function form(
  c: Context,
  webhook: Webhook | undefined,
  wrong?: { message: string; errors?: FieldError[] | undefined; draft: Draft },
) {
  const connections = await readList(c.env, c.get('caller'), connectionList.list, {
    connectionId: undefined,
    query: { limit: ['500'] },
  });
  const names = connections.items;
  const draft: Draft = wrong?.draft ?? {
    url: webhook?.url ?? '',
    httpVerb: webhook?.httpVerb ?? 'POST',
    connectionIds: webhook?.connectionIds ?? names.map(({ id }) => id),
    notificationTypes: webhook?.notificationTypes ?? [1, 2],
    headers: Object.entries(webhook?.headers ?? {}),
  };
  const revealed = c.req.query('reveal') === 'yes';
  const headerRows = [...draft.headers, ...Array(3).fill(['', ''])] as Draft['headers'];
  const headerProblem = wrong?.errors?.find(({ field }) => field === 'headers');
  return page(
    c,
    webhook ? 'Edit webhook' : 'Add a webhook',
    <>
      <Problem message={wrong?.message} />
      <form method="post" action={c.req.path}>
        <Field
          name="url"
          label="Address"
          required
          value={draft.url}
          hint="An https URL that answers with 2xx within 10 seconds"
          errors={wrong?.errors ?? []}
        />
        <label>
          Verb
          <select name="httpVerb">
            {['POST', 'PUT'].map((verb) => (
              <option selected={verb === draft.httpVerb}>{verb}</option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Tell of</legend>
          {([1, 2] as const).map((type) => (
            <label>
              <input
                type="checkbox"
                name="notificationTypes"
                value={String(type)}
                checked={draft.notificationTypes.includes(type)}
              />
              {typeNames[type]}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Connections</legend>
          {names.length === 0 && <p>This account has none yet.</p>}
          {names.map(({ id, name, provider }) => (
            <label>
              <input
                type="checkbox"
                name="connectionIds"
                value={id}
                checked={draft.connectionIds.includes(id)}
              />
              {name ?? provider} ({provider})
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Headers to send along</legend>
          {headerProblem && <small role="alert">{headerProblem.message}</small>}
          {headerRows.map(([name, value], i) => (
            <div class="pair">
              <input name="headerName" value={name} aria-label={`Header ${i + 1}: name`} autocomplete="off" />
              <input
                name="headerValue"
                value={value}
                type={revealed ? 'text' : 'password'}
                aria-label={`Header ${i + 1}: value`}
                autocomplete="off"
              />
            </div>
          ))}
          {webhook && !revealed && <a href={`${c.req.path}?reveal=yes`}>Reveal the values</a>}
        </fieldset>
        <div class="actions">
          <button type="submit">Save</button>
          <a href={webhook ? `/portal/webhooks/${webhook.id}` : '/portal/webhooks'}>Cancel</a>
        </div>
      </form>
    </>,
    wrong ? 400 : 200,
  );
}

async function save(c: Context) {
  const webhook = c.req.param('id') ? await requireWebhook(c) : undefined;
  const fields = await formOf(c);
  const values = fields.all('headerValue');
  const draft: Draft = {
    url: fields.one('url').trim(),
    httpVerb: fields.one('httpVerb'),
    connectionIds: fields.all('connectionIds'),
    notificationTypes: fields.all('notificationTypes').map(Number),
    headers: fields
      .all('headerName')
      .map((name, i): [string, string] => [name.trim(), values[i] ?? ''])
      .filter(([name]) => name !== ''),
  };
  return refusedAs(
    (wrong) => form(c, webhook, { ...wrong, draft }),
    async () => {
      const policy = {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      };
      const input = parseWebhook({ ...draft, headers: Object.fromEntries(draft.headers) }, policy);
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input)
        : await createWebhook(c.env, c.get('caller'), input);
      return c.redirect(`/portal/webhooks/${saved.id}`, 303);
    },
  );
}
