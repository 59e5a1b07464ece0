import { type Connection, findConnection } from '../../fleet/connections.ts';
import { deleteConnection } from '../../operator/deletion/accept.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { replaceCredential } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from '../../providers/manage.ts';
import { connectorOf } from '../../providers/registry.ts';
import { type PullSummary, pullSummary } from '../../providers/status.ts';
import { done, type FormProblem, readForm, submit } from '../ui/form.ts';
import { errorsOfForm, Field, LinkButton, Submit } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { showConnection } from './connection.tsx';
import { connectionsPath, nameOf } from './connections.tsx';
import { CredentialFields, HowToCreate, sentCredential } from './credential.tsx';
import { credentialLabel } from './health.tsx';

type Pulled = { connection: Connection; pull: PullSummary; connector: Connector; path: string };

/** The connection that the path names. @throws Refusal: not found, also for another account's, or one that does not pull */
async function required(c: Context): Promise<Pulled> {
  const id = c.req.param('id') ?? '';
  const caller = c.get('caller');
  const [connection, pull] = await Promise.all([
    findConnection(c.env, caller, id),
    pullSummary(c.env, caller, id),
  ]);
  const connector = pull && connectorOf(pull.provider);
  if (!connection || !connector) throw new Refusal({ kind: 'not found' });
  return { connection, pull, connector, path: `${connectionsPath}/${id}` };
}

/** What can be done with a connection that pulls. Each action says what has come of it. */
export const pull = (c: Context) => act(c, pullNow, 'is being pulled now.');
export const pause = (c: Context) =>
  act(c, pausePull, 'is paused. Nothing more is pulled until it is resumed.');
export const resume = (c: Context) => act(c, resumePull, 'is pulled again, from where it stopped.');

async function act(c: Context, action: typeof pullNow, outcome: string) {
  const { connection, path } = await required(c);
  return submit(
    async () => {
      await action(c.env, c.get('caller'), connection.id);
      return done(c, path, `“${nameOf(connection)}” ${outcome}`);
    },
    ({ message }) => done(c, path, message, 'warn'),
  );
}

export async function saveSecret(c: Context) {
  const { connection, connector, path } = await required(c);
  const form = await readForm(c);
  return submit(
    async () => {
      await setWebhookSecret(c.env, c.get('caller'), connection.id, form.value('secret'));
      return done(
        c,
        path,
        `The secret was saved. From now on a call of ${connector.name} has this pulled at once.`,
      );
    },
    (problem) => showConnection(c, problem),
  );
}

const above = ({ connection, path }: Pulled) => [
  { href: connectionsPath, name: 'Connections' },
  { href: path, name: nameOf(connection) },
];

export async function showCredential(
  c: Context,
  problem?: FormProblem,
  typed: (input: string) => string = () => '',
) {
  const pulled = await required(c);
  const { connector, pull, path } = pulled;
  const label = credentialLabel(pull);
  return page(
    c,
    {
      title: `Replace the ${label}`,
      above: above(pulled),
      lead: 'The new one is tested first. Then pulling goes on from where it stopped: nothing is missed or notified twice.',
      narrow: true,
    },
    <section class="panel" aria-label={`New ${label}`}>
      <form class="panel-body grid gap-4" method="post" action={`${path}/credential`} novalidate>
        <div>
          <HowToCreate connector={connector} />
          <p class="sub mt-3">
            The one in use is of <strong class="wrap-anywhere">“{pull.organisation}”</strong>, at{' '}
            <code>{new URL(pull.baseUrl).host}</code>.
          </p>
        </div>
        <CredentialFields
          connector={connector}
          typed={typed}
          errors={errorsOfForm(problem, 'credential').map(asCredential)}
        />
        <div class="actions">
          <Submit name="Test and replace" />
          <LinkButton href={path} name="Cancel" weight="ghost" />
        </div>
      </form>
    </section>,
    problem && 'invalid',
  );
}

/** The form has nothing but the credential to blame. */
const asCredential = ({ field, message }: { field: string; message: string }) => ({
  field: field.startsWith('credential') ? field : 'credential',
  message,
});

export async function saveCredential(c: Context) {
  const { connection, connector, pull, path } = await required(c);
  const form = await readForm(c);
  return submit(
    async () => {
      const { credential, errors } = sentCredential(connector, form);
      if (errors.length > 0) throw invalid('', errors);
      const { provider, baseUrl } = pull;
      const tried = await replaceCredential(
        c.env,
        c.get('caller'),
        { id: connection.id, provider, baseUrl },
        credential,
      );
      const what = `${connector.name} accepts the new ${connector.credential.label} of “${tried.organisation}”.`;
      return tried.organisationId === pull.organisationId
        ? done(c, path, `${what} Pulling goes on.`)
        : done(
            c,
            path,
            `${what} The one before was of “${pull.organisation}”: is this what you meant?`,
            'warn',
          );
    },
    (problem) => showCredential(c, problem, form.value),
  );
}

export async function showRemoval(c: Context, problem?: FormProblem, typed = '') {
  const pulled = await required(c);
  const { connection, pull, path } = pulled;
  return page(
    c,
    { title: 'Remove this connection?', above: above(pulled), narrow: true },
    <section class="panel" aria-label="Remove this connection?">
      <form class="panel-body grid gap-4" method="post" action={`${path}/remove`} novalidate>
        <p class="wrap-anywhere">
          <strong>“{nameOf(connection)}”</strong> is no longer pulled, and everything that came from it is
          deleted: its vehicles, drivers, trips, safety events and accidents. Webhooks get nothing of it any
          more. This cannot be undone. Nothing changes at {connection.tsp}.
        </p>
        {pull.state !== 'paused' && (
          <p class="sub">To stop pulling and keep what there is, pause it instead.</p>
        )}
        <Field
          name="name"
          label="Its name, to confirm"
          value={typed}
          autocomplete="off"
          hint={`Enter “${nameOf(connection)}”.`}
          errors={errorsOfForm(problem, 'name')}
        />
        <div class="actions">
          <Submit name="Remove connection" weight="danger" />
          <LinkButton href={path} name="Keep it" weight="ghost" />
        </div>
      </form>
    </section>,
    problem && 'invalid',
  );
}

export async function remove(c: Context) {
  const { connection } = await required(c);
  const name = (await readForm(c)).value('name');
  return submit(
    async () => {
      await deleteConnection(c.env, c.get('caller'), connection.id, name.trim());
      return done(c, connectionsPath, `“${nameOf(connection)}” was removed. Its records are being deleted.`);
    },
    (problem) => showRemoval(c, problem, name),
  );
}
