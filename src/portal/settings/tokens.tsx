import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { maxConnectionsOfToken, SomeConnections } from '../../core/accounts/tokens/connections.ts';
import {
  type CreatedToken,
  findTokenById,
  issueToken,
  listTokens,
  revokeToken,
} from '../../core/accounts/tokens/service.ts';
import { connectionName, listConnections } from '../../core/fleet/connections.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { Name } from '../../core/platform/fields.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { listed } from '../../texts/words.ts';
import { LinkButton } from '../../ui/buttons.tsx';
import {
  boxes,
  choice,
  confirmed,
  FormPanel,
  formPage,
  handles,
  line,
  type Values,
} from '../../ui/forms/form-fields.tsx';
import type { Offered } from '../../ui/forms/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { Copyable, ShownOnce, State } from '../../ui/parts.tsx';
import { secretPage } from '../../ui/secret.tsx';
import { acting, type Column, naming, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Ago, Day } from '../../ui/time.tsx';

const path = '/portal/settings/tokens';

/** In how many days a new token can expire. */
const expiries: Offered[] = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In one year'],
];

export const newToken = {
  name: line('Token name', Name, { required: true, placeholder: 'What will use it' }),
  access: choice('Access', [
    ['', 'Read and change'],
    ['read', 'Read only'],
  ]),
  expires: choice('Expires', expiries),
};

/** Settings, API Tokens. */
export async function list(c: Context) {
  const tokens = await sliceOn(c, 100, ['token', 'tokens'], (...slice) =>
    listTokens(...slice, { scope: 'api' }),
  );
  return page(
    c,
    { title: 'API Tokens' },
    <>
      <FormPanel
        title="Generate a token"
        to={path}
        send="Generate Token"
        line="sm:grid-cols-2 lg:grid-cols-[minmax(0,1fr)_11rem_9rem_auto]"
        hint={[
          'A token can read and change everything in this account. A read-only token can change nothing, and does not see webhook headers. ',
          <a href={`${path}/limited`}>Limit one to some connections</a>,
          ', such as those of one fleet. Give each system its own token, so that you can revoke one without stopping the others.',
        ]}
        fields={newToken}
      />
      <TablePanel
        title="Tokens in use"
        side={tokens.items.length > 0 && !tokens.pages && <p>{inUse(tokens.items)}</p>}
        stacked
        columns={tokenColumns}
        {...tokens}
        empty={{
          icon: 'key-round',
          title: 'No tokens yet',
          text: 'A program needs a token to read your data and to manage webhooks.',
        }}
      />
    </>,
  );
}

/** A credential that was just generated, and a call with it. */
export const NewToken = (props: {
  what: string;
  value: string;
  curl: string;
  children?: Child;
}) => (
  <ShownOnce
    id="token"
    title={`Copy the ${props.what} now`}
    value={props.value}
    more={
      <details class="mt-3">
        <summary class="sub">Try it with curl</summary>
        <Copyable id="curl" text={props.curl} />
      </details>
    }
  >
    This is the only time its value is shown. Lost it? Revoke it and generate another.{' '}
    {props.children}
  </ShownOnce>
);

/** "4, one expires soon" */
function inUse(tokens: CreatedToken[]): string {
  const soon = tokens.filter(
    ({ expiresAt }) => expiresAt !== null && isSoon(daysUntil(expiresAt)),
  ).length;
  if (soon === 0) return `${tokens.length}`;
  return `${tokens.length}, ${soon === 1 ? 'one expires' : `${soon} expire`} soon`;
}

/** When a new token expires, in milliseconds since 1970, as it was chosen. */
export const expiryIn = (days: string) => (days ? Date.now() + Number(days) * dayMs : undefined);

export const generate = handles(newToken, list, issue);

async function issue(c: Context, chosen: Values<typeof newToken> & { connectionIds?: string[] }) {
  const { name, access, expires, connectionIds } = chosen;
  const more = { readOnly: access === 'read', expiresAt: expiryIn(expires), connectionIds };
  const { value } = await issueToken(...by(c), { name, ...more });
  const curl = `curl -H 'x-api-key: ${value}' ${new URL(c.req.url).origin}/connections`;
  return secretPage(c, `Generated “${name}”`, path, <NewToken what="token" {...{ value, curl }} />);
}

const Chosen = v.pipe(
  v.array(v.string()),
  v.check(
    ({ length }) => length > 0 && length <= maxConnectionsOfToken,
    `Choose 1 to ${maxConnectionsOfToken}.`,
  ),
  SomeConnections,
);

/** The form for a token that is limited to some connections. */
export async function generateLimited(c: Context) {
  const known = await listConnections(c.env, c.get('caller'));
  const options = known.map((one): Offered => [one.id, connectionName(one), one.tsp]);
  return formPage(c, {
    title: 'Generate a token for some connections',
    lead: 'It reads and changes only what belongs to them. Connections added later are not included.',
    narrow: true,
    fields: {
      ...newToken,
      connectionIds: { ...boxes('Connections', options), schema: Chosen },
    },
    send: 'Generate Token',
    back: path,
    save: (chosen) => issue(c, chosen),
  });
}

/** Revokes an API token or an ingest key. */
export const revoke = confirmed(async (c) => {
  const { id, name, connectionId } = await inPath(c, findTokenById);
  return {
    title: `Revoke “${name}”?`,
    text: 'The API will reject it from now on. Programs that still use it stop working. You cannot undo this.',
    does: () => revokeToken(c.env, c.get('caller'), id),
    said: `Revoked “${name}”: the API now rejects it.`,
    back: connectionId === null ? path : `/portal/connections/${connectionId}`,
  };
});

/** How long before its end, and after its last use, a token is marked. */
const soonDays = 14;
const staleDays = 60;

const daysUntil = (at: number): number => Math.ceil((at - Date.now()) / dayMs);
const isSoon = (days: number): boolean => days > 0 && days <= soonDays;

export const tokenColumns: Column<CreatedToken>[] = [
  naming(
    'Name',
    ({ name }) => name,
    ({ readOnly, connectionIds, names }) => [
      readOnly && <span class="sub block">Read only</span>,
      connectionIds && <span class="sub block">Only {listed(JSON.parse(names))}</span>,
    ],
  ),
  { head: 'Ends in', cell: ({ lastFour }) => <code>…{lastFour}</code> },
  {
    head: 'Created',

    cell: ({ createdAt, createdBy }) => [<Day at={createdAt} />, createdBy && ` by ${createdBy}`],
  },
  { head: 'Last used', look: 'nowrap', cell: (token) => <LastUsed token={token} /> },
  { head: 'Expires', look: 'nowrap', cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
  acting(({ id, name }) => (
    <LinkButton href={`${path}/${id}/revoke`} name="Revoke" about={name} weight="danger" small />
  )),
];

const LastUsed = ({ token: { lastUsedAt, createdAt } }: { token: CreatedToken }) => {
  const unusedDays = Math.floor((Date.now() - (lastUsedAt ?? createdAt)) / dayMs);
  return (
    <>
      {lastUsedAt === null ? 'Never' : <Ago at={lastUsedAt} />}
      {unusedDays >= staleDays && <span class="sub block">{unusedDays} days unused</span>}
    </>
  );
};

const Expiry = ({ at }: { at: number | null }) => {
  if (at === null) return <>Never</>;
  const days = daysUntil(at);
  if (days <= 0) return <State mood="quiet">Expired</State>;
  if (!isSoon(days)) return <Day at={at} />;
  return <State mood="warn">{days === 1 ? 'Within a day' : `In ${days} days`}</State>;
};
