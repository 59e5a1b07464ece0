import { Hono } from 'hono';
import * as v from 'valibot';
import { connectionName, findConnection, updateConnection } from '../../core/fleet/connections.ts';
import { ExternalIdInput, maxExternalId } from '../../core/fleet/lists/resource.ts';
import {
  type App,
  by,
  type Context,
  inPath,
  orNotFound,
} from '../../core/platform/http/context.ts';
import { type Pages, shown } from '../../ui/added.ts';
import { FormPanel, handles, line } from '../../ui/forms/form-fields.tsx';
import { connectionPath, idIn, vehiclePath } from '../../ui/lists/records.tsx';
import { role } from '../../ui/session/rights.ts';
import { done } from '../../ui/submit.ts';
import { setVehicleExternalId } from './external-ids.ts';

const OrNone = v.pipe(
  v.string(),
  v.trim(),
  v.transform((typed) => typed || null),
  ExternalIdInput.entries.externalId,
);

const fields = (hint = '') => ({
  externalId: line('External ID', OrNone, { hint, maxlength: maxExternalId, autocomplete: 'off' }),
});

/** The account's own identifier of a connection or a vehicle, for people who may change it. */
const ExternalIdPanel = (props: { to: string; value: string | null; hint: string }) => (
  <FormPanel
    title="Your own ID"
    to={props.to}
    send="Save"
    weight="plain"
    fields={fields(props.hint)}
    stored={{ externalId: props.value }}
  />
);

/** Handles that form; `save` returns the path and name of what has it. */
const saves = (
  show: (c: Context) => Response | Promise<Response>,
  save: (c: Context, externalId: string | null) => Promise<{ path: string; name: string }>,
) =>
  handles(fields(), show, async (c, { externalId }) => {
    const { path, name } = await save(c, externalId);
    return done(c, path, `The external ID of “${name}” was saved.`);
  });

const ofConnection = saves(shown('connection'), async (c, externalId) => {
  const { id } = await inPath(c, findConnection);
  // Also if it has it: a form takes effect once, by what it saves.
  const connection = await updateConnection(...by(c), id, { externalId });
  return { path: connectionPath(connection), name: connectionName(connection) };
});

const ofVehicle = saves(shown('vehicle'), async (c, externalId) => {
  const vehicle = orNotFound(await setVehicleExternalId(...by(c), idIn(c), externalId));
  return { path: vehiclePath(vehicle), name: vehicle.name };
});

export const pages: Pages = {
  routes: new Hono<App>()
    .post('/connections/:id/external-id', role('member'), ofConnection)
    .post('/vehicles/:id/external-id', role('member'), ofVehicle),
  connection: async (_, connection) => ({
    forms: (
      <ExternalIdPanel
        to={`${connectionPath(connection)}/external-id`}
        value={connection.externalId}
        hint="Such as a policy number: externalId in the API. No other connection can have the same one."
      />
    ),
  }),
  vehicle: (vehicle) => (
    <ExternalIdPanel
      to={`${vehiclePath(vehicle)}/external-id`}
      value={vehicle.externalId}
      hint="Such as a fleet number: externalId in the API. No other vehicle can have the same one."
    />
  ),
};
