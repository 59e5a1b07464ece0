import { type Connection, findConnection, updateConnection } from '../../fleet/connections.ts';
import { deleteConnection } from '../../operator/deletion/accept.ts';
import { Refusal } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { replaceCredential } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from '../../providers/manage.ts';
import { connectorOf } from '../../providers/registry.ts';
import { type PullSummary, pullSummary } from '../../providers/status.ts';
import { saveExternalId } from '../ui/external-id.tsx';
import { done, submit } from '../ui/form.ts';
import { Buttons, confirmed, Form } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { found } from '../ui/records.tsx';
import { showConnection } from './connection.tsx';
import { connectionsPath, nameOf } from './connections.tsx';
import { CredentialFields, HowToCreate, mainInput, sentCredential } from './credential.tsx';
import { credentialLabel } from './health.tsx';

type Pulled = { connection: Connection; pull: PullSummary; connector: Connector; path: string };

/** The connection in the path. @throws Refusal: not found, also for another account's, or one that does not pull */
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

/** The actions on a pulling connection. Each reports its result. */
export const pull = (c: Context) => act(c, pullNow, 'is being pulled now.');
export const pause = (c: Context) =>
  act(c, pausePull, 'is paused. Nothing more is pulled until it is resumed.');
export const resume = (c: Context) => act(c, resumePull, 'is pulled again, from where it stopped.');

async function act(c: Context, action: typeof pullNow, outcome: string) {
  const { connection, path } = await required(c);
  return submit(
    c,
    async () => {
      await action(c.env, c.get('caller'), connection.id);
      return done(c, path, `“${nameOf(connection)}” ${outcome}`);
    },
    ({ message }) => done(c, path, message, 'warn'),
  );
}

export async function saveSecret(c: Context) {
  const { connection, connector, path } = await required(c);
  return submit(
    c,
    async (form) => {
      await setWebhookSecret(c.env, c.get('caller'), connection.id, form.value('secret'));
      return done(
        c,
        path,
        `The secret was saved. From now on, calls from ${connector.name} make this connection pull immediately.`,
      );
    },
    () => showConnection(c),
    'secret',
  );
}

/** Sets or removes the account's own identifier, also of connections that do not pull. */
export async function setExternalId(c: Context) {
  const id = c.req.param('id') ?? '';
  const caller = c.get('caller');
  found(await findConnection(c.env, caller, id));
  return saveExternalId(
    c,
    async (externalId) => {
      const connection = await updateConnection(c.env, caller, id, { externalId });
      return { path: `${connectionsPath}/${id}`, name: nameOf(connection) };
    },
    showConnection,
  );
}

const above = ({ connection, path }: Pulled) => [
  { href: connectionsPath, name: 'Connections' },
  { href: path, name: nameOf(connection) },
];

export async function showCredential(c: Context) {
  const pulled = await required(c);
  const { connector, pull, path } = pulled;
  const label = credentialLabel(pull);
  return page(
    c,
    {
      title: `Replace the ${label}`,
      above: above(pulled),
      lead: 'The new one is tested first. Then pulling resumes where it stopped: nothing is missed or notified twice.',
      narrow: true,
    },
    <section class="panel" aria-label={`New ${label}`}>
      <Form look="panel-body grid gap-4">
        <div>
          <HowToCreate connector={connector} />
        </div>
        <CredentialFields connector={connector} />
        <Buttons send="Test and replace" back={path} />
      </Form>
    </section>,
  );
}

export async function saveCredential(c: Context) {
  const { connection, connector, pull, path } = await required(c);
  const { provider, baseUrl, organisation, organisationId } = pull;
  return submit(
    c,
    async (form) => {
      const credential = sentCredential(connector, form);
      const known = { id: connection.id, provider, baseUrl };
      const tried = await replaceCredential(c.env, c.get('caller'), known, credential);
      const what = `${connector.name} accepts the new ${connector.credential.label} of “${tried.organisation}”.`;
      return tried.organisationId === organisationId
        ? done(c, path, `${what} Pulling continues.`)
        : done(
            c,
            path,
            `${what} The previous one belonged to “${organisation}”. Is this the right one?`,
            'warn',
          );
    },
    () => showCredential(c),
    (error) => (error.field.startsWith('credential.') ? error : { ...error, field: mainInput(connector) }),
  );
}

export const remove = confirmed(async (c) => {
  const pulled = await required(c);
  const { connection, path } = pulled;
  const name = nameOf(connection);
  return {
    title: 'Remove this connection?',
    above: above(pulled),
    narrow: true,
    text: `“${name}” will no longer be pulled, and all of its data will be deleted: vehicles, drivers, trips, safety events and accidents. Webhooks will receive nothing more from it. This cannot be undone. Nothing changes at ${connection.tsp}. To stop pulling and keep the data, pause it instead.`,
    typed: name,
    does: (typed) => deleteConnection(c.env, c.get('caller'), connection.id, typed),
    said: `“${name}” was removed. Its records are being deleted.`,
    back: path,
    next: connectionsPath,
  };
});
