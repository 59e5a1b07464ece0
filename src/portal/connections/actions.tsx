import { issueToken } from '../../core/accounts/tokens/service.ts';
import {
  connectionName,
  findConnection,
  mapIncidentLabel,
  updateConnection,
} from '../../core/fleet/connections.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import {
  pausePull,
  pullNow,
  resumePull,
  setWebhookSecret,
} from '../../extras/providers/connect.ts';
import { pullSummary } from '../../extras/providers/status.ts';
import { deleteConnection } from '../../operator/deletion/accept.ts';
import { confirmed, handles } from '../../ui/form-fields.tsx';
import { done, readForm, submit } from '../../ui/submit.ts';
import { expiryIn } from '../settings/tokens.tsx';
import { showConnection, webhookSecret } from './connection.tsx';
import { aboveOf, connectionsPath, pathOf, requirePulled } from './connections.tsx';
import { labelFields } from './labels.tsx';
import { newKey, newKeyPage } from './own.tsx';

const acts = (action: typeof pullNow, outcome: string) => async (c: Context) => {
  const { connection } = await requirePulled(c);
  const act = async () => {
    await action(...by(c), connection.id);
    return done(c, pathOf(connection), `“${connectionName(connection)}” ${outcome}`);
  };
  return submit(c, act, ({ message }) => done(c, pathOf(connection), message, 'warn'));
};

export const pull = acts(pullNow, 'is being pulled now.');
export const pause = acts(pausePull, 'is paused. Nothing more is pulled until it is resumed.');
export const resume = acts(resumePull, 'is pulled again, from where it stopped.');

/** Saves the secret of the provider's webhook. */
export const saveSecret = handles(webhookSecret(''), showConnection, async (c, { secret }) => {
  const { connection, connector } = await requirePulled(c);
  await setWebhookSecret(...by(c), connection.id, secret);
  const outcome = `From now on, calls from ${connector.name} make this connection pull immediately.`;
  return done(c, pathOf(connection), `The secret was saved. ${outcome}`);
});

/** Generates another ingest key of a connection. */
export const generateKey = handles(newKey, showConnection, async (c, { name, expires }) => {
  const connection = await inPath(c, findConnection);
  const key = { connectionId: connection.id, name, expiresAt: expiryIn(expires) };
  const { value } = await issueToken(...by(c), key);
  return newKeyPage(c, `Generated “${name}”`, connection, value);
});

/** Maps a label of the connection to an incident type, or no longer. */
export const mapLabel = handles(labelFields(), showConnection, async (c, { label, type }) => {
  const connection = await inPath(c, findConnection);
  await mapIncidentLabel(...by(c), connection, label, type || null);
  const outcome = type ? `is now mapped to ${type}` : 'is not mapped any more';
  return done(c, pathOf(connection), `“${label}” ${outcome}.`);
});

/** Ends the warning that nobody is notified of its accidents, or brings it back. */
export async function setWarning(c: Context) {
  const { id } = await inPath(c, findConnection);
  const notifiesNobody = (await readForm(c)).value('do') !== 'warn';
  const connection = await updateConnection(...by(c), id, { notifiesNobody });
  const said = notifiesNobody ? 'The warning is turned off.' : 'The warning is turned on.';
  return done(c, pathOf(connection), said);
}

/** Removes the connection with its data, once its name is typed. */
export const remove = confirmed(async (c) => {
  const connection = await inPath(c, findConnection);
  const pull = await pullSummary(c.env, c.get('caller'), connection.id);
  const name = connectionName(connection);
  const [ends, instead] = pull
    ? [
        'will no longer be pulled',
        ` Nothing changes at ${connection.tsp}. To stop pulling and keep the data, pause it instead.`,
      ]
    : ['will no longer accept records from your connector', ''];
  return {
    title: 'Remove this connection?',
    above: aboveOf(connection),
    text: `“${name}” ${ends}, and all of its data will be deleted: vehicles, drivers, trips, safety events and accidents. Webhooks will receive nothing more from it. This cannot be undone.${instead}`,
    typed: name,
    does: (typed) => deleteConnection(...by(c), connection.id, typed),
    said: `“${name}” was removed. Its records are being deleted.`,
    back: pathOf(connection),
    next: connectionsPath,
  };
});
