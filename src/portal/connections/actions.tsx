import { findConnection, updateConnection } from '../../fleet/connections.ts';
import { deleteConnection } from '../../operator/deletion/accept.ts';
import type { Context } from '../../platform/http/context.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from '../../providers/connect.ts';
import { saveExternalId } from '../ui/external-id.tsx';
import { confirmed } from '../ui/forms.tsx';
import { found } from '../ui/records.tsx';
import { done, submit } from '../ui/submit.ts';
import { showConnection } from './connection.tsx';
import { aboveOf, connectionsPath, nameOf, pathOf, requirePulled } from './connections.tsx';

/** The actions on a pulling connection. Each reports its result. */
export const pull = (c: Context) => act(c, pullNow, 'is being pulled now.');
export const pause = (c: Context) =>
  act(c, pausePull, 'is paused. Nothing more is pulled until it is resumed.');
export const resume = (c: Context) => act(c, resumePull, 'is pulled again, from where it stopped.');

async function act(c: Context, action: typeof pullNow, outcome: string) {
  const { connection } = await requirePulled(c);
  return submit(
    c,
    async () => {
      await action(c.env, c.get('caller'), connection.id);
      return done(c, pathOf(connection), `“${nameOf(connection)}” ${outcome}`);
    },
    ({ message }) => done(c, pathOf(connection), message, 'warn'),
  );
}

/** Saves the secret of the provider's webhook. */
export async function saveSecret(c: Context) {
  const { connection, connector } = await requirePulled(c);
  return submit(
    c,
    async (form) => {
      await setWebhookSecret(c.env, c.get('caller'), connection.id, form.value('secret'));
      const outcome = `From now on, calls from ${connector.name} make this connection pull immediately.`;
      return done(c, pathOf(connection), `The secret was saved. ${outcome}`);
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
      return { path: pathOf(connection), name: nameOf(connection) };
    },
    showConnection,
  );
}

/** Ends the warning that nobody is notified of its accidents, or brings it back. */
export async function setWarning(c: Context) {
  const id = c.req.param('id') ?? '';
  const caller = c.get('caller');
  found(await findConnection(c.env, caller, id));
  return submit(
    c,
    async (form) => {
      const notifiesNobody = form.value('do') !== 'warn';
      const connection = await updateConnection(c.env, caller, id, { notifiesNobody });
      return done(
        c,
        pathOf(connection),
        notifiesNobody ? 'There is no warning any more.' : 'You are warned again.',
      );
    },
    () => showConnection(c),
  );
}

/** Removes the connection with its data, once its name is typed. */
export const remove = confirmed(async (c) => {
  const { connection } = await requirePulled(c);
  const name = nameOf(connection);
  return {
    title: 'Remove this connection?',
    above: aboveOf(connection),
    narrow: true,
    text: `“${name}” will no longer be pulled, and all of its data will be deleted: vehicles, drivers, trips, safety events and accidents. Webhooks will receive nothing more from it. This cannot be undone. Nothing changes at ${connection.tsp}. To stop pulling and keep the data, pause it instead.`,
    typed: name,
    does: (typed) => deleteConnection(c.env, c.get('caller'), connection.id, typed),
    said: `“${name}” was removed. Its records are being deleted.`,
    back: pathOf(connection),
    next: connectionsPath,
  };
});
