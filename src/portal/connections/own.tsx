import * as v from 'valibot';
import {
  type CreatedToken,
  issueToken,
  maxIngestKeys,
} from '../../core/accounts/tokens/service.ts';
import {
  type Connection,
  connectionName,
  newConnection as connectionOf,
} from '../../core/fleet/connections.ts';
import { Name } from '../../core/platform/fields.ts';
import type { Context } from '../../core/platform/http/context.ts';
import { addWithWebhooks } from '../../core/webhooks/add-connection.ts';
import { above, connectionsPath, ownPath } from '../../ui/connections.ts';
import { FormPanel, formPage, line } from '../../ui/forms/form-fields.tsx';
import { connectionPath } from '../../ui/lists/records.tsx';
import { secretPage } from '../../ui/secret.tsx';
import { TablePanel } from '../../ui/table.tsx';
import { NewToken, newToken, tokenColumns } from '../settings/tokens.tsx';
import { connectingOf } from './connections.tsx';

/** A provider's name as the code that the API has for it: "acme-telematics". */
const codeOf = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .match(/[a-z0-9]+/g)
    ?.join('-')
    .slice(0, 40);

const newConnection = {
  provider: line(
    'Provider',
    v.pipe(
      Name,
      v.check((name) => codeOf(name) !== undefined, 'must have a letter from a to z, or a digit'),
    ),
    { placeholder: 'Acme Telematics', hint: 'Its name in deliveries.' },
  ),
  name: line(
    'Name',
    v.lazy((name) => (name === '' ? v.string() : Name)),
    'Leave empty for the name of the provider.',
  ),
};

/** The page that leads here. */
function backFrom(c: Context): string {
  const { href } = connectingOf(c);
  return href === ownPath ? connectionsPath : href;
}

/** The form for a connection whose records a connector of the account sends, with an ingest key. */
export const addOwn = (c: Context) =>
  formPage(c, {
    title: 'Connect another provider',
    above,
    lead: 'Your connector, a program of your own, sends us the data. It gets a key for this connection alone.',
    before: (
      <p>
        <a href="/docs/connectors">How to write a connector</a>
      </p>
    ),
    fields: newConnection,
    send: 'Add connection',
    back: backFrom(c),
    place: 'provider',
    save: async ({ provider: tSP, name }) => {
      const caller = c.get('caller');
      const provider = codeOf(tSP) ?? '';
      const connection = connectionOf(caller, { provider, tSP, name: name || undefined });
      const key = { connectionId: connection.id, name: 'Connector' };
      const { value } = await issueToken(c.env, caller, key, (db) =>
        addWithWebhooks(db, caller, connection),
      );
      return newKeyPage(c, `“${connectionName(connection)}” was added`, connection, value);
    },
  });

/** The form for another ingest key. */
export const newKey = {
  name: line('Key name', Name, { required: true }),
  expires: newToken.expires,
};

/** The ingest keys of a connection, and the form for another, if a connector sends its records. */
export const IngestKeys = (props: { path: string; keys: CreatedToken[]; isSent: boolean }) => (
  <>
    {props.isSent && (
      <FormPanel
        title="Generate an ingest key"
        to={`${props.path}/keys`}
        send="Generate key"
        weight="plain"
        line="sm:grid-cols-[minmax(0,1fr)_9rem_auto]"
        hint={`Your connector sends records of this connection with it, and can do nothing else. Up to ${maxIngestKeys} can be active.`}
        fields={newKey}
      />
    )}
    <TablePanel title="Ingest keys" stacked columns={tokenColumns} items={props.keys} />
  </>
);

/** The page with an ingest key that was just generated, and a call that stores nothing. */
export function newKeyPage(c: Context, said: string, connection: Connection, value: string) {
  const { origin } = new URL(c.req.url);
  const records = [{ kind: 'vehicle', sourceId: 'truck-1', name: 'Truck 1' }];
  const json = `-H 'content-type: application/json' -d '${JSON.stringify({ records, dryRun: true })}'`;
  return secretPage(
    c,
    said,
    connectionPath(connection),
    <NewToken
      what="ingest key"
      value={value}
      curl={`curl -H 'x-api-key: ${value}' ${json} ${origin}/ingest`}
    >
      <a href="/docs/connectors">How to write a connector</a>
    </NewToken>,
  );
}
