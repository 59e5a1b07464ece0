import { dayMs } from '../../../core/platform/durations.ts';
import { Name } from '../../../core/platform/fields.ts';
import { by, type Context, orNotFound, seeOther } from '../../../core/platform/http/context.ts';
import { limit, limitByAddress } from '../../../core/platform/http/limits.ts';
import { LinkButton } from '../../../ui/buttons.tsx';
import { above } from '../../../ui/connections.ts';
import { confirmed, FormPanel, handles, line } from '../../../ui/forms/form-fields.tsx';
import { page } from '../../../ui/layout.tsx';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { ShownOnce, State } from '../../../ui/parts.tsx';
import { secretPage } from '../../../ui/secret.tsx';
import { submitOnce } from '../../../ui/submit-once.ts';
import { acting, type Column, naming, TablePanel } from '../../../ui/table.tsx';
import { Day } from '../../../ui/time.tsx';
import {
  type ConnectLink,
  connectByLink,
  connectLinkMs,
  createLink,
  linkHash,
  listLinks,
  maxOpenLinks,
  openLink,
  revokeLink,
  withdraw,
} from '../links.ts';
import { type Adding, adds, onlyRead } from './add.tsx';
import { linksPath } from './paths.ts';

const newLink = { name: line('Fleet', Name, { required: true, placeholder: 'Quillmoor Freight' }) };

/** Connect links for people outside the account. */
export async function list(c: Context) {
  const links = await listLinks(...by(c));
  return page(
    c,
    {
      title: 'Connect links',
      above,
      lead: 'Let a fleet connect its provider to your account. You never see its credential.',
      narrow: true,
    },
    <>
      <FormPanel
        title="Create a link"
        to={linksPath}
        send="Create link"
        line="sm:grid-cols-[minmax(0,1fr)_auto]"
        hint={`A link works once and expires after ${connectLinkMs / dayMs} days. Up to ${maxOpenLinks} can be open. The fleet can use the same link to withdraw its consent, which stops pulling.`}
        fields={newLink}
      />
      <TablePanel
        title="Links"
        stacked
        columns={columns}
        items={links}
        empty={{ icon: 'plug', title: 'No links yet' }}
      />
    </>,
  );
}

const columns: Column<ConnectLink>[] = [
  naming('Fleet', ({ name }) => name),
  { head: 'State', cell: (link) => <LinkState link={link} /> },
  { head: 'Created', look: 'nowrap', cell: ({ createdAt }) => <Day at={createdAt} /> },
  acting(({ id, name, connectionId }) =>
    connectionId === null ? (
      <LinkButton
        href={`${linksPath}/${id}/revoke`}
        name="Revoke"
        about={name}
        weight="danger"
        small
      />
    ) : (
      <LinkButton
        href={connectionPath({ id: connectionId })}
        name="See the connection"
        about={name}
        small
      />
    ),
  ),
];

const LinkState = ({ link: { connectionId, withdrawnAt, expiresAt } }: { link: ConnectLink }) => {
  if (withdrawnAt !== null) return <State mood="warn">Consent withdrawn</State>;
  if (connectionId !== null) return <State mood="ok">Connected</State>;
  return (
    <>
      <State mood="quiet">Not used yet</State>
      <span class="sub block">
        until <Day at={expiresAt} />
      </span>
    </>
  );
};

export const create = handles(newLink, list, async (c, { name }) => {
  const { url } = await createLink(...by(c), name);
  return secretPage(
    c,
    `Created a link for “${name}”`,
    linksPath,
    <ShownOnce id="link" title="Copy the link now" value={url}>
      This is the only time it is shown. Whoever has it can connect one provider to your account.
    </ShownOnce>,
  );
});

export const revoke = confirmed(async (c) => {
  const { id, name } = await requireUnused(c);
  return {
    title: `Revoke the link for “${name}”?`,
    above: [...above, { href: linksPath, name: 'Connect links' }],
    text: 'It stops working immediately. The fleet needs another link to connect its provider.',
    does: () => revokeLink(...by(c), id),
    said: `Revoked the link for “${name}”. It no longer works.`,
    back: linksPath,
  };
});

/** The link in the path. @throws Refusal: not found, also for a used one, or another account's */
async function requireUnused(c: Context): Promise<ConnectLink> {
  const links = await listLinks(...by(c));
  return orNotFound(
    links.find(({ id, connectionId }) => id === c.req.param('id') && connectionId === null),
  );
}

/** The page of a connect link: the form, or what was connected by it. */
export const outside = (c: Context) =>
  opened(c, (link) =>
    link.link.connectionId === null ? adds(c, adding(c, link)) : connected(c, link),
  );

type Opened = NonNullable<Awaited<ReturnType<typeof openLink>>>;

/** Opens the link of the query. Only valid secrets are looked up, and each has its own rate limit. */
async function opened(
  c: Context,
  then: (link: Opened) => Response | Promise<Response>,
): Promise<Response> {
  const hash = await linkHash(c.env, secretOf(c));
  if (hash) await limit(c.env, 'ACTION_LIMIT', hash);
  else await limitByAddress(c, 'LINK_REQUEST_LIMIT');
  const link = hash && (await openLink(c.env, hash));
  if (!link)
    return page(
      c,
      {
        title: 'This link does not work',
        lead: 'It has expired or was revoked. Ask for another one.',
      },
      null,
      'not found',
    );
  return c.req.method === 'POST'
    ? submitOnce(c, link.caller, addressOf(c), async () => then(link))
    : then(link);
}

const secretOf = (c: Context): string => c.req.query('secret') ?? '';

const addressOf = (c: Context, path = ''): string =>
  `/portal/connect${path}?${new URLSearchParams({ secret: secretOf(c) })}`;

/** What the account keeps of accidents, which the fleet agrees to. */
const keeps = ({ account, evidenceDays: days }: Opened['link']) =>
  days === null
    ? ''
    : `${account} keeps videos, photos and reports of accidents for ${days} days. `;

const adding = (c: Context, { caller, link }: Opened): Adding => ({
  head: {
    title: `Connect your fleet to ${link.account}`,
    lead: `${link.account} will see your vehicles, drivers, trips, safety events and accidents, but not your credential. ${keeps(link)}${onlyRead} You can withdraw your consent with the same link.`,
  },
  connect: (input) => connectByLink(c.env, caller, input),
  next: () => addressOf(c),
  query: { secret: secretOf(c) },
});

function connected(c: Context, { link }: Opened) {
  const { account, connection, withdrawnAt } = link;
  return page(
    c,
    withdrawnAt === null
      ? {
          title: `“${connection}” is connected`,
          lead: `${account} receives its data. Keep this link: with it you can withdraw your consent.`,
        }
      : {
          title: 'You have withdrawn your consent',
          lead: `Nothing more of “${connection}” is read, and its credential is deleted here. Ask ${account} to delete what it has received.`,
        },
    withdrawnAt === null && (
      <LinkButton href={addressOf(c, '/withdraw')} name="Withdraw consent" weight="danger" />
    ),
  );
}

/** Withdraws consent, once that is confirmed. */
export const endOutside = (c: Context) =>
  opened(c, ({ caller, link: { account, connection, connectionId, withdrawnAt } }) =>
    connectionId === null || withdrawnAt !== null
      ? seeOther(c, addressOf(c))
      : confirmed(async () => ({
          title: 'Withdraw your consent?',
          text: `Nothing more of “${connection}” is read, and its credential is deleted here. ${account} keeps what it has received. To connect again, you need another link.`,
          does: () => withdraw(c.env, caller, connectionId),
          said: 'Your consent was withdrawn.',
          back: addressOf(c),
        }))(c),
  );
