import type { Child } from 'hono/jsx';
import { listConnections } from '../../core/fleet/connections.ts';
import { config } from '../../core/platform/config.ts';
import { base64url } from '../../core/platform/crypto.ts';
import { type ErrorCode, type FieldError, invalid } from '../../core/platform/errors.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { retries } from '../../core/webhooks/deliveries/policy.ts';
import { notificationTypes } from '../../core/webhooks/notifications/types.ts';
import { parseWebhook } from '../../core/webhooks/schema.ts';
import { createWebhook, updateWebhook } from '../../core/webhooks/service.ts';
import { findWebhook, type StoredWebhook } from '../../core/webhooks/stored.ts';
import { added } from '../../ui/added.ts';
import type { OnWebhookForm, WebhookForm } from '../../ui/added-to-webhooks.ts';
import { Icon, Submit } from '../../ui/buttons.tsx';
import { drawn, valuesIn } from '../../ui/forms/form-fields.tsx';
import { Buttons, Form } from '../../ui/forms/forms.tsx';
import { sentPairs } from '../../ui/forms/pairs.tsx';
import type { IconName } from '../../ui/icon-names.ts';
import { page } from '../../ui/layout.tsx';
import { Panel } from '../../ui/parts.tsx';
import type { SentForm } from '../../ui/reader.ts';
import { done, showAgain, submit } from '../../ui/submit.ts';
import { aboveOf, pathOf, titleOf } from '../../ui/webhooks.ts';
import * as fields from './inputs.tsx';

/** The pages to add and to edit a webhook, and their forms. */
export const add = (c: Context) => (c.req.method === 'GET' ? show(c) : take(c));
export async function edit(c: Context) {
  if (c.req.method === 'GET') return show(c, inPath(c, findWebhook));
  return take(c, await inPath(c, findWebhook));
}

/** The form of a webhook. Each button sends all of it. */
async function show(c: Context, current?: StoredWebhook | Promise<StoredWebhook>) {
  const [webhook, connections, ...more] = await Promise.all([
    current,
    listConnections(...by(c)),
    ...added(c, 'webhookForm').map(({ draw }) => draw(c, current)),
  ]);
  const sent = c.get('shownAgain');
  const isRevealed = c.req.query('reveal') === 'yes';
  const verified = more.flatMap((part) => part.verified ?? []);
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
          {more.map(({ samples }) => samples)}
        </section>
        {drawn(fields.connections(connections), webhook)}
        <div class="form-section">
          {drawn(
            fields.headers(
              names,
              verified.map(({ unless }) => unless),
            ),
            { headers },
          )}
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
        {more.map(({ section }) => section && <div class="form-section">{section}</div>)}
        {more.map(
          ({ folded }) =>
            folded && <Folded {...folded} isOpen={sent !== undefined || folded.isSet} />,
        )}
        {more.map(({ last }) => last)}
        <Buttons
          send={webhook ? 'Save changes' : 'Add webhook'}
          does="save"
          back={webhook ? pathOf(webhook) : '/portal/webhooks'}
        />
      </Form>
      <Duties verified={['a secret header', ...verified.map(({ by }) => by)].toReversed()} />
    </div>,
  );
}

/** Handles the form's buttons: to save, to generate a secret, or what extras do. The Enter key saves. */
const take = (c: Context, webhook?: StoredWebhook) =>
  submit(
    c,
    async (form) => {
      const pressed = form.value('do');
      if (pressed === 'secret') {
        showAgain(c, withSecret(form));
        return show(c, webhook);
      }
      const forms = added(c, 'webhookForm');
      const input = parseWebhook(bodyOf(form, forms, webhook), {
        ownHost: new URL(c.req.url).hostname,
        allowLoopback: config(c.env).allowLoopbackReceivers,
      });
      const other = forms.find(({ button }) => button?.does === pressed);
      if (other) {
        await other.button?.press(c, input, webhook?.id);
        showAgain(c, form);
        return show(c, webhook);
      }
      const labels = valuesIn(fields.labels, form);
      const revision = form.value('revision');
      const saved = webhook
        ? await updateWebhook(...by(c), webhook.id, input, { revision, labels })
        : await createWebhook(...by(c), input, labels);
      const said = `Webhook "${titleOf({ ...labels, url: saved.url })}" was ${webhook ? 'saved' : 'added'}`;
      for (const { shownOnce } of forms) {
        const shown = shownOnce?.(c, said, saved);
        if (shown) return shown;
      }
      return done(c, pathOf(saved), `${said}.`);
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
  const others = sentPairs(form, 'header').filter(
    ([name]) => name.toLowerCase() !== secretHeader.toLowerCase(),
  );
  const headers = [...others, [secretHeader, secret] as const];
  const parts: { [name: string]: string[] } = {
    headerName: headers.map(([name]) => name),
    headerValue: headers.map(([, value]) => value),
  };
  return { ...form, values: (name) => parts[name] ?? form.values(name) };
}

/** What the API would take as body. A header without a value keeps the one that it has. */
function bodyOf(form: SentForm, forms: WebhookForm[], webhook?: StoredWebhook) {
  const { allConnections, connectionIds } = valuesIn(fields.connections(), form);
  return {
    ...valuesIn({ ...fields.address, ...fields.wide }, form),
    ...(allConnections.length > 0 ? { allConnections: true } : { connectionIds }),
    headers: Object.fromEntries(
      valuesIn(fields.headers(), form).headers.map(([name, typed]) => {
        const value = typed || new Map(Object.entries(webhook?.headers ?? {})).get(name);
        if (value) return [name, value];
        throw invalid('A header has no value', [{ field: 'headers', message: 'need a value' }]);
      }),
    ),
    ...Object.assign({}, ...forms.map((part) => part.bodyOf?.(form, webhook))),
  };
}

const Folded = (props: NonNullable<OnWebhookForm['folded']> & { isOpen: boolean }) => (
  <details class="form-section" id={props.id} open={props.isOpen}>
    <summary class="legend">{props.title}</summary>
    <div class="mt-2 grid gap-4">
      <p class="hint">{props.hint}</p>
      {props.fields}
    </div>
  </details>
);

const Duties = ({ verified }: { verified: string[] }) => (
  <Panel
    title="What your receiver should do"
    foot={<a href="/docs/quick-start">Receiver examples</a>}
  >
    <ol class="checks panel-body pt-1">
      {dutiesOf(verified).map(([icon, duty]) => (
        <li>
          <Icon name={icon} small />
          <span>{duty}</span>
        </li>
      ))}
    </ol>
  </Panel>
);

const dutiesOf = (verified: string[]): [icon: IconName, duty: Child][] => [
  [
    'timer',
    `Return any 2xx status within ${retries.timeoutSeconds} seconds. Do slow work afterwards.`,
  ],
  ['shield-check', `Check ${verified.join(' or ')}, and refuse requests without it.`],
  ['copy', ['Ignore repeats by ', <code>Delivery-Id</code>, '.']],
  [
    'rotate-ccw',
    `Expect retries: up to ${retries.maxAttempts} attempts over ${retries.hours} hours.`,
  ],
];
