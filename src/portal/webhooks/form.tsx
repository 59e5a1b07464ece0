import { Hono } from 'hono';
import { type Connection, listConnections } from '../../fleet/connections.ts';
import { config } from '../../platform/config.ts';
import { parse } from '../../platform/fields.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { parseWebhook, WebhookLabels } from '../../webhooks/schema.ts';
import { createWebhook, type StoredWebhook, updateWebhook } from '../../webhooks/service.ts';
import { tryReceiver } from '../../webhooks/simulate.ts';
import { limitAction } from '../session/action-limit.ts';
import { needs } from '../session/rights.ts';
import { done } from '../ui/flash.ts';
import { readForm, submit } from '../ui/form.ts';
import { page } from '../ui/layout.tsx';
import { Form } from './fields.tsx';
import { changedBy, type FormState, isSaving, sentFields, wantedOf } from './sent.ts';
import { requireWebhook } from './webhook.tsx';
import { mergeWebhook, parseShown, type WebhookFields } from './webhook-merge.ts';
import { inFormWords } from './webhook-problems.ts';
import { Duties } from './webhook-receiver-duties.tsx';
import { pathOf, titleOf } from './webhook-words.ts';

/** Adding and editing a webhook, with the checks of the API. */
export const webhookForms = new Hono<App>()
  .get('/webhooks/new', needs('member'), add)
  .post('/webhooks/new', needs('member'), async (c) => take(c, undefined))
  .get('/webhooks/:id/edit', needs('member'), edit)
  .post('/webhooks/:id/edit', needs('member'), async (c) => take(c, await requireWebhook(c)));

/** What the form of a webhook that is yet to be created has shown of it. */
const nothing: WebhookFields = {
  name: '',
  description: '',
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

/** Takes the form in, and does what its button says: save it, try it, or show it again with what the button changes. */
async function take(c: Context, webhook: StoredWebhook | undefined) {
  const form = await readForm(c);
  const shown = webhook ? parseShown(form.value('shown')) : nothing;
  const fields = sentFields(form);
  const wanted = wantedOf(form);
  const again = async (state: Partial<FormState>) =>
    formPage(c, webhook, await listConnections(c.env, c.get('caller')), {
      shown,
      fields,
      find: form.value('find'),
      ...state,
    });
  if (wanted !== 'test' && !isSaving(wanted)) return again(changedBy(wanted, fields, shown));
  if (wanted === 'test') await limitAction(c);
  return submit(
    async () => {
      const merged = mergeWebhook(webhook, shown, fields);
      const input = parseWebhook(merged, {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      if (wanted === 'test') return again({ tried: await tryReceiver(input) });
      const labels = parse(WebhookLabels, merged);
      const saved = webhook
        ? await updateWebhook(c.env, c.get('caller'), webhook.id, input, {
            revision: webhook.revision,
            labels,
          })
        : await createWebhook(c.env, c.get('caller'), input, labels);
      const name = titleOf({ ...labels, url: saved.url });
      return done(
        c,
        pathOf(saved),
        webhook ? `Webhook "${name}" was saved.` : `Webhook "${name}" was added.`,
      );
    },
    (problem) => again({ problem: inFormWords(problem) }),
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
      above: [
        { href: '/portal/webhooks', name: 'Webhooks' },
        ...(webhook ? [{ href: pathOf(webhook), name: titleOf(webhook) }] : []),
      ],
      lead: webhook
        ? 'Changes also apply to deliveries that wait.'
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
    state.problem && 'invalid',
  );
}

const isRevealed = (c: Context): boolean => c.req.query('reveal') === 'yes';

/** The webhook as its form shows it: with the connections that are listed, and with header values if revealed. */
function shownOf(webhook: StoredWebhook, connections: Connection[], revealed: boolean): WebhookFields {
  const { name, description, url, httpVerb, notificationTypes, connectionIds, headers } = webhook;
  const listed = new Set(connections.map(({ id }) => id));
  return {
    name: name ?? '',
    description: description ?? '',
    url,
    httpVerb,
    notificationTypes,
    connectionIds: connectionIds.filter((id) => listed.has(id)),
    headers: Object.entries(headers).map(([name, value]) => (revealed ? { name, value } : { name })),
  };
}
