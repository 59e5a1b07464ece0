import { Hono } from 'hono';
import { type Connection, listConnections } from '../accounts/connections.ts';
import { config } from '../config.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { ACCIDENT, EVENT } from '../notifications/types.ts';
import { parseWebhook } from '../webhooks/schema.ts';
import { createWebhook, type StoredWebhook, updateWebhook } from '../webhooks/service.ts';
import { Problem } from './components.tsx';
import { type FormProblem, readForm, type SentForm, submit } from './form.ts';
import { page } from './layout.tsx';
import { pathOf, requireWebhook } from './webhook.tsx';
import { Fields } from './webhook-fields.tsx';
import { mergeWebhook, parseShown, type WebhookFields } from './webhook-merge.ts';

/** Adding and editing a webhook, with the checks and messages of the API. */
export const webhookForms = new Hono<App>()
  .get('/webhooks/new', add)
  .post('/webhooks/new', async (c) => save(c, undefined))
  .get('/webhooks/:id/edit', edit)
  .post('/webhooks/:id/edit', async (c) => save(c, await requireWebhook(c)));

/** What the form of a webhook that is yet to be created has shown of it. */
const nothing: WebhookFields = {
  url: '',
  httpVerb: 'POST',
  notificationTypes: [],
  connectionIds: [],
  headers: [],
};

async function add(c: Context) {
  const connections = await listConnections(c.env, c.get('caller'));
  const connectionIds = connections.map(({ id }) => id);
  const fields = { ...nothing, notificationTypes: [ACCIDENT, EVENT], connectionIds };
  return formPage(c, undefined, connections, { shown: nothing, fields });
}

async function edit(c: Context) {
  const [webhook, connections] = await Promise.all([
    requireWebhook(c),
    listConnections(c.env, c.get('caller')),
  ]);
  const shown = shownOf(webhook, connections, isRevealed(c));
  return formPage(c, webhook, connections, { shown, fields: shown });
}

async function save(c: Context, webhook: StoredWebhook | undefined) {
  const form = await readForm(c);
  const shown = webhook ? parseShown(form.value('shown')) : nothing;
  const fields = sentFields(form);
  return submit(
    async () => {
      const input = parseWebhook(mergeWebhook(webhook, shown, fields), {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input, webhook.revision)
        : await createWebhook(c.env, c.get('caller'), input);
      return seeOther(c, pathOf(saved));
    },
    async (problem) => {
      const connections = await listConnections(c.env, c.get('caller'));
      return formPage(c, webhook, connections, { shown, fields, problem });
    },
  );
}

/** The form, holding `fields`. It carries what it has `shown`, so that saving can tell what was changed. */
function formPage(
  c: Context,
  webhook: StoredWebhook | undefined,
  connections: Connection[],
  { shown, fields, problem }: { shown: WebhookFields; fields: WebhookFields; problem?: FormProblem },
) {
  const revealed = isRevealed(c);
  const hasHidden = shown.headers.some(({ value }) => value === undefined);
  return page(
    c,
    webhook ? 'Edit webhook' : 'Add a webhook',
    <>
      <Problem message={problem?.message} />
      <form method="post" action={revealed ? `${c.req.path}?reveal=yes` : c.req.path}>
        <input type="hidden" name="shown" value={JSON.stringify(shown)} />
        <Fields
          fields={fields}
          shown={shown}
          connections={connections}
          revealed={revealed}
          errors={problem?.errors ?? []}
        />
        {hasHidden && (
          <p>
            <a href={`${c.req.path}?reveal=yes`}>Show header values</a>
          </p>
        )}
        <div class="actions">
          <button type="submit">Save</button>
          <a href={webhook ? pathOf(webhook) : '/portal/webhooks'}>Cancel</a>
        </div>
      </form>
    </>,
    problem && 'invalid',
  );
}

const isRevealed = (c: Context): boolean => c.req.query('reveal') === 'yes';

/** The webhook as its form shows it: with the connections that are listed, and with header values if revealed. */
function shownOf(webhook: StoredWebhook, connections: Connection[], revealed: boolean): WebhookFields {
  const { url, httpVerb, notificationTypes, connectionIds, headers } = webhook;
  const listed = new Set(connections.map(({ id }) => id));
  return {
    url,
    httpVerb,
    notificationTypes,
    connectionIds: connectionIds.filter((id) => listed.has(id)),
    headers: Object.entries(headers).map(([name, value]) => (revealed ? { name, value } : { name })),
  };
}

function sentFields(form: SentForm): WebhookFields {
  const values = form.values('headerValue');
  return {
    url: form.value('url').trim(),
    httpVerb: form.value('httpVerb'),
    notificationTypes: form.values('notificationTypes').map(Number),
    connectionIds: form.values('connectionIds'),
    headers: form
      .values('headerName')
      .map((name, place) => ({ name: name.trim(), value: values[place] ?? '' })),
  };
}
