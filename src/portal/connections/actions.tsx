import { issueToken } from '../../core/accounts/tokens/service.ts';
import { connectionName, findConnection, mapIncidentLabel } from '../../core/fleet/connections.ts';
import { by, inPath } from '../../core/platform/http/context.ts';
import { deleteConnection } from '../../operator/deletion/accept.ts';
import { aboveOf, connectionsPath } from '../../ui/connections.ts';
import { confirmed, handles } from '../../ui/forms/form-fields.tsx';
import { connectionPath } from '../../ui/lists/records.tsx';
import { done } from '../../ui/submit.ts';
import { expiryIn } from '../settings/tokens.tsx';
import { showConnection } from './connection.tsx';
import { findPulled } from './connections.tsx';
import { labelFields } from './labels.tsx';
import { newKey, newKeyPage } from './own.tsx';

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
  return done(c, connectionPath(connection), `“${label}” ${outcome}.`);
});

/** Removes the connection with its data, once its name is typed. */
export const remove = confirmed(async (c) => {
  const connection = await inPath(c, findConnection);
  const name = connectionName(connection);
  const [ends, instead] = (await findPulled(c, connection.id))
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
    back: connectionPath(connection),
    next: connectionsPath,
  };
});
