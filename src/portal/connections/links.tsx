import * as v from 'valibot';
import { dayMs } from '../../platform/durations.ts';
import { Name } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import {
  type ConnectLink,
  connectLinkMs,
  createLink,
  listLinks,
  maxOpenLinks,
  revokeLink,
} from '../../providers/links.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { parseForm, submit } from '../ui/form.ts';
import { confirmed, Field, Form } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Panel, ShownOnce } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { acting, type Column, naming, Table } from '../ui/table.tsx';
import { Day } from '../ui/time.tsx';
import { connectionsPath, linksPath } from './connections.tsx';

/** Connect links for people outside the account. `url` is that of a new one, shown only once. */
export async function list(c: Context, url?: string) {
  const links = await listLinks(c.env, c.get('caller'));
  return page(
    c,
    {
      title: 'Connect links',
      above: [{ href: connectionsPath, name: 'Connections' }],
      lead: 'Let a fleet connect its provider to your account. You never see its credential.',
      narrow: true,
    },
    <>
      {url && (
        <ShownOnce id="link" title="Copy the link now" value={url}>
          This is the only time it is shown. Whoever has it can connect one provider to your account.
        </ShownOnce>
      )}
      <Panel id="new-link" title="Create a link">
        <Form to={linksPath} look="panel-body">
          <div class="grid gap-4 items-end sm:grid-cols-[minmax(0,1fr)_auto]">
            <Field name="name" label="Fleet" required placeholder="Quillmoor Freight" />
            <button class="btn btn-primary" type="submit">
              Create link
            </button>
          </div>
          <p class="hint mt-3">
            A link works once and expires after {connectLinkMs / dayMs} days. Up to {maxOpenLinks} can be
            open. The fleet can use the same link to withdraw its consent, which stops pulling.
          </p>
        </Form>
      </Panel>
      <Panel id="links" title="Links">
        <Table
          caption="Links"
          stacked
          columns={columns}
          items={links}
          empty={<Empty icon="plug" title="No links yet" />}
        />
      </Panel>
    </>,
  );
}

const columns: Column<ConnectLink>[] = [
  naming('Fleet', ({ name }) => name),
  { head: 'State', cell: (link) => <LinkState link={link} /> },
  { head: 'Created', look: 'nowrap', cell: ({ createdAt }) => <Day at={createdAt} /> },
  acting(({ id, name, connectionId }) =>
    connectionId === null ? (
      <LinkButton href={`${linksPath}/${id}/revoke`} name="Revoke" about={name} weight="danger" small />
    ) : (
      <LinkButton href={`${connectionsPath}/${connectionId}`} name="See the connection" about={name} small />
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

export const create = (c: Context) =>
  submit(
    c,
    async (form) => {
      const { name } = parseForm(v.object({ name: Name }), form);
      return list(c, (await createLink(c.env, c.get('caller'), name)).url);
    },
    () => list(c),
    'name',
  );

export const revoke = confirmed(async (c) => {
  const { id, name } = await requireUnused(c);
  return {
    title: `Revoke the link for “${name}”?`,
    above: [
      { href: connectionsPath, name: 'Connections' },
      { href: linksPath, name: 'Connect links' },
    ],
    narrow: true,
    text: 'It stops working immediately. The fleet needs another link to connect its provider.',
    does: () => revokeLink(c.env, c.get('caller'), id),
    said: `Revoked the link for “${name}”. It no longer works.`,
    back: linksPath,
  };
});

/** The link in the path. @throws Refusal: not found, also for a used one, or another account's */
async function requireUnused(c: Context): Promise<ConnectLink> {
  const links = await listLinks(c.env, c.get('caller'));
  return found(links.find(({ id, connectionId }) => id === c.req.param('id') && connectionId === null));
}
