import type { Child } from 'hono/jsx';
import { listConnections } from '../../core/fleet/connections.ts';
import { config } from '../../core/platform/config.ts';
import { base64url } from '../../core/platform/crypto.ts';
import { asCaller } from '../../core/platform/db/guard.ts';
import { type ErrorCode, type FieldError, invalid } from '../../core/platform/errors.ts';
import { timestamp } from '../../core/platform/fields.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { type Attempt, retries } from '../../core/webhooks/deliveries/policy.ts';
import {
  ACCIDENT,
  EVENT,
  type NotificationType,
  notificationTypes,
} from '../../core/webhooks/notifications/types.ts';
import { parseWebhook } from '../../core/webhooks/schema.ts';
import { createWebhook, updateWebhook } from '../../core/webhooks/service.ts';
import { findWebhook, type StoredWebhook } from '../../core/webhooks/stored.ts';
import { selectGroups } from '../../extras/alerts/rules.ts';
import { madeUp, tryReceiver } from '../../extras/delivery-log/simulate.ts';
import { outcomeOf } from '../../texts/outcome.ts';
import { Icon, Submit } from '../../ui/buttons.tsx';
import { drawn, valuesIn } from '../../ui/forms/form-fields.tsx';
import { Buttons, Form } from '../../ui/forms/forms.tsx';
import type { IconName } from '../../ui/icon-names.ts';
import { page } from '../../ui/layout.tsx';
import { Note, Panel } from '../../ui/parts.tsx';
import type { SentForm } from '../../ui/reader.ts';
import { done, showAgain, submit } from '../../ui/submit.ts';
import { aboveOf, pathOf, titleOf } from '../../ui/webhooks.ts';
import { newSecretPage } from './actions.tsx';
import * as fields from './inputs.tsx';

/** The pages to add and to edit a webhook, and their forms. */
export const add = (c: Context) => (c.req.method === 'GET' ? show(c) : take(c));
export async function edit(c: Context) {
  if (c.req.method === 'GET') return show(c, inPath(c, findWebhook));
  return take(c, await inPath(c, findWebhook));
}

/** The form of a webhook, and a test's result. Each button sends all of it. */
async function show(c: Context, current?: StoredWebhook | Promise<StoredWebhook>, tried?: Attempt) {
  const caller = c.get('caller');
  const [webhook, connections, groups] = await Promise.all([
    current,
    listConnections(...by(c)),
    asCaller(...by(c), (db) => selectGroups(db, caller)),
  ]);
  const sent = c.get('shownAgain');
  const isRevealed = c.req.query('reveal') === 'yes';
  const groupNames = new Set([
    ...groups.map(({ name }) => name),
    ...(webhook?.filters?.vehicleGroups ?? []),
  ]);
  const names = Object.keys(webhook?.headers ?? {});
  const headers = isRevealed
    ? webhook?.headers
    : Object.fromEntries(names.map((name) => [name, '']));
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
          {drawn(fields.labels, webhook)}
          <div class="grid gap-4 sm:grid-cols-[7rem_minmax(0,1fr)]">
            {drawn(fields.address, webhook)}
          </div>
        </section>
        <section class="form-section">
          {drawn(fields.wide, webhook ?? { notificationTypes })}
          <Sample of="an accident" type={ACCIDENT} />
          <Sample of="a safety event" type={EVENT} />
        </section>
        {drawn(fields.connections(connections), webhook)}
        <div class="form-section">
          {drawn(fields.headers(names), { headers })}
          <div class="actions">
            <Submit
              to="#headers"
              does="secret"
              name="Generate a secret"
              icon="key-round"
              weight="plain"
              small
            />
            {names.length > 0 && !isRevealed && (
              <a class="btn btn-sm btn-ghost" href="?reveal=yes#headers">
                Show header values
              </a>
            )}
          </div>
        </div>
        {!webhook && <div class="form-section">{drawn(fields.signing, { signing: true })}</div>}
        <Optional
          id="filters"
          title="Filters"
          isOpen={sent !== undefined || webhook?.filters !== undefined}
        >
          <p class="hint">For new notifications. Without any, the webhook receives everything.</p>
          {drawn(fields.filters([...groupNames]), webhook?.filters)}
        </Optional>
        <Optional
          id="oauth"
          title="OAuth 2"
          isOpen={sent !== undefined || webhook?.oauth !== undefined}
        >
          <p class="hint">
            The service gets an access token with these client credentials, and sends it in the
            header <code>Authorization</code>. Leave all empty to send none.{' '}
            <a href="/docs/webhooks#oauth-2">How it works</a>
          </p>
          {drawn(fields.oauth(webhook?.oauth !== undefined), webhook?.oauth)}
        </Optional>
        <Test tried={tried} />
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

/** Handles the form's buttons: to save, to send a test, or to generate a secret. The Enter key saves. */
const take = (c: Context, webhook?: StoredWebhook) =>
  submit(
    c,
    async (form) => {
      const pressed = form.value('do');
      if (pressed === 'secret') {
        showAgain(c, withSecret(form));
        return show(c, webhook);
      }
      const input = parseWebhook(bodyOf(form, webhook), {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      if (pressed === 'test') {
        const tried = await tryReceiver(...by(c), input, webhook?.id);
        showAgain(c, form);
        return show(c, webhook, tried);
      }
      const labels = valuesIn(fields.labels, form);
      const revision = form.value('revision');
      const saved = webhook
        ? await updateWebhook(...by(c), webhook.id, input, { revision, labels })
        : await createWebhook(...by(c), input, labels);
      const said = `Webhook "${titleOf({ ...labels, url: saved.url })}" was ${webhook ? 'saved' : 'added'}`;
      return saved.signingSecret === undefined
        ? done(c, pathOf(saved), `${said}.`)
        : newSecretPage(c, said, saved, saved.signingSecret);
    },
    () => show(c, webhook),
    (error) => {
      const known = error.code ? formErrors[error.code] : error;
      return { ...known, field: error.field || known.field };
    },
  );

const formErrors: { [code in ErrorCode]: FieldError } = {
  'url taken': { field: 'url', message: 'Another webhook of your account has this URL.' },
  'unknown connections': {
    field: 'connectionIds',
    message: 'Some of these connections no longer exist. Open the form again.',
  },
  'url not https': {
    field: 'url',
    message:
      'Must start with https://. Deliveries contain personal data and are only sent encrypted.',
  },
};

const secretHeader = 'X-Webhook-Secret';

/** The form with a new secret in a header of its own, in place of one that it may have. */
function withSecret(form: SentForm): SentForm {
  const secret = base64url(crypto.getRandomValues(new Uint8Array(24)));
  const others = fields
    .sentPairs(form, 'header')
    .filter(([name]) => name.toLowerCase() !== secretHeader.toLowerCase());
  const headers = [...others, [secretHeader, secret] as const];
  const parts: { [name: string]: string[] } = {
    headerName: headers.map(([name]) => name),
    headerValue: headers.map(([, value]) => value),
  };
  return { ...form, values: (name) => parts[name] ?? form.values(name) };
}

/** What the API would take as body. A header without a value keeps the one that it has. */
function bodyOf(form: SentForm, webhook?: StoredWebhook) {
  const { allConnections, connectionIds } = valuesIn(fields.connections(), form);
  const { 'oauth.params': params, ...client } = valuesIn(fields.oauth(), form);
  const oauth = filled(client);
  return {
    ...valuesIn({ ...fields.address, ...fields.wide, ...(!webhook && fields.signing) }, form),
    ...(allConnections.length > 0 ? { allConnections: true } : { connectionIds }),
    headers: Object.fromEntries(
      valuesIn(fields.headers(), form).headers.map(([name, typed]) => {
        const value = typed || new Map(Object.entries(webhook?.headers ?? {})).get(name);
        if (value) return [name, value];
        throw invalid('A header has no value', [{ field: 'headers', message: 'need a value' }]);
      }),
    ),
    filters: filled(valuesIn(fields.filters(), form)),
    oauth:
      Object.keys(oauth).length + params.length > 0
        ? { ...oauth, params: Object.fromEntries(params) }
        : null,
  };
}

/** The fields that are not empty, without what their names have in common. */
const filled = (fields: { [name: string]: unknown }) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      String(value) === '' ? [] : [[name.split('.').at(-1) ?? name, value]],
    ),
  );

const Optional = (props: { id: string; title: string; isOpen: boolean; children: Child }) => (
  <details class="form-section" id={props.id} open={props.isOpen}>
    <summary class="legend">{props.title}</summary>
    <div class="mt-2 grid gap-4">{props.children}</div>
  </details>
);

const Sample = ({ of, type }: { of: string; type: NotificationType }) => {
  const [first] = madeUp({ type }, { connectionIds: [] });
  const body = { timestamp: timestamp(Date.now()), type: first?.type, data: first?.data };
  return (
    <details class="sample">
      <summary>Sample payload of {of}</summary>
      <pre tabindex={0}>{JSON.stringify(body, null, 2)}</pre>
    </details>
  );
};

const Test = ({ tried }: { tried: Attempt | undefined }) => (
  <section class="form-section" id="test" aria-labelledby="test-title">
    <div>
      <h2 class="legend" id="test-title">
        Test
      </h2>
      <p class="hint">
        Sends one made-up notification now, exactly as deliveries are sent: with these headers, an
        access token if OAuth 2 is set, and a signature if it was saved with one. Nothing is saved.
      </p>
    </div>
    {tried && (
      <Note
        mood={tried.result === 'success' ? 'ok' : 'bad'}
        role="status"
        more={'answer' in tried && tried.answer && <pre class="answer">{tried.answer}</pre>}
      >
        <strong>{outcomeOf(tried)}</strong>
        {tried.result !== 'success' && tried.status && ' Only a 2xx status counts as delivered.'}
      </Note>
    )}
    <div class="actions">
      <Submit to="#test" does="test" name="Send a test" icon="send" weight="plain" small />
    </div>
  </section>
);

const Duties = () => (
  <Panel
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
  [
    'timer',
    `Return any 2xx status within ${retries.timeoutSeconds} seconds. Do slow work afterwards.`,
  ],
  ['shield-check', 'Check the signature or a secret header, and refuse requests without it.'],
  ['copy', ['Ignore repeats by ', <code>Delivery-Id</code>, '.']],
  [
    'rotate-ccw',
    `Expect retries: up to ${retries.maxAttempts} attempts over ${retries.hours} hours.`,
  ],
];
