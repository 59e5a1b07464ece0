import * as v from 'valibot';
import {
  type CreatedToken,
  findTokenById,
  issueToken,
  listTokens,
  revokeToken,
} from '../../accounts/tokens/service.ts';
import { dayMs } from '../../platform/durations.ts';
import { Name } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { confirmed, Field, FormPanel, type Offered, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { shownOnce } from '../ui/once.ts';
import { Copyable, Empty, ShownOnce } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { done, parseForm, submit } from '../ui/submit.ts';
import { acting, type Column, naming, SlicePager, TablePanel } from '../ui/table.tsx';
import { Ago, Day } from '../ui/time.tsx';

const path = '/portal/settings/tokens';
const pageSize = 100;

const accesses: Offered[] = [
  ['', 'Read and change'],
  ['read', 'Read only'],
];

/** In how many days a new token can expire; the empty choice is never. */
const expiries: Offered[] = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In one year'],
];

/** Settings, API Tokens, with the value of a new one, which is shown only once. */
export async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const [{ items: tokens, next }, issued] = await Promise.all([
    listTokens(c.env, c.get('caller'), slice, 'api'),
    shownOnce(c),
  ]);
  const { origin } = new URL(c.req.url);
  return page(
    c,
    { title: 'API Tokens' },
    <>
      {issued && (
        <ShownOnce
          id="token"
          title="Copy the token now"
          value={issued}
          more={
            <details class="mt-3">
              <summary class="sub">Try it with curl</summary>
              <Copyable id="curl" text={`curl -H 'x-api-key: ${issued}' ${origin}/connections`} />
            </details>
          }
        >
          This is the only time its value is shown. Lost it? Revoke it and generate another.
        </ShownOnce>
      )}
      <FormPanel
        id="generate"
        title="Generate a token"
        to={path}
        send="Generate Token"
        line="sm:grid-cols-2 lg:grid-cols-[minmax(0,1fr)_11rem_9rem_auto]"
        hint="A token can read and change everything in this account. A read-only token can change nothing, and does not see webhook headers. Give each system its own token, so that you can revoke one without stopping the others."
      >
        <Field name="name" label="Token name" required placeholder="What will use it" />
        <Select name="access" label="Access" options={accesses} />
        <Select name="expires" label="Expires" options={expiries} />
      </FormPanel>
      <TablePanel
        id="in-use"
        title="Tokens in use"
        side={tokens.length > 0 && !slice.after && !next && <p>{inUse(tokens)}</p>}
        stacked
        columns={columns}
        items={tokens}
        empty={
          <Empty icon="key-round" title="No tokens yet">
            A program needs a token to read your data and to manage webhooks.
          </Empty>
        }
      >
        <SlicePager c={c} count={`${tokens.length} tokens on this page`} slice={slice} next={next} />
      </TablePanel>
    </>,
  );
}

/** "4, one expires soon" */
function inUse(tokens: CreatedToken[]): string {
  const soon = tokens.filter(({ expiresAt }) => expiresAt !== null && isSoon(daysUntil(expiresAt))).length;
  if (soon === 0) return `${tokens.length}`;
  return `${tokens.length}, ${soon === 1 ? 'one expires' : `${soon} expire`} soon`;
}

const NewToken = v.object({
  name: Name,
  access: v.picklist(['', 'read'], 'must be one of the choices'),
  expires: v.pipe(
    v.picklist(
      expiries.map(([days]) => days),
      'must be one of the choices',
    ),
    v.transform((days) => (days === '' ? undefined : Date.now() + Number(days) * dayMs)),
  ),
});

export const generate = (c: Context) =>
  submit(
    c,
    async (form) => {
      const { name, access, expires } = parseForm(NewToken, form);
      const wanted = { name, readOnly: access === 'read', expiresAt: expires };
      await issueToken(c.env, c.get('caller'), wanted);
      return done(c, path, `Generated “${name}”.`, 'ok', true);
    },
    () => list(c),
    'name',
  );

export const revoke = confirmed(async (c) => {
  const { id, name } = found(await findTokenById(c.env, c.get('caller'), c.req.param('id') ?? ''));
  return {
    title: `Revoke “${name}”?`,
    text: 'The API will reject this token from now on. Programs that still use it stop working. You cannot undo this.',
    does: () => revokeToken(c.env, c.get('caller'), id),
    said: `Revoked “${name}”: the API now rejects it.`,
    back: path,
  };
});

/** How long before its end, and after its last use, a token is marked. */
const soonDays = 14;
const staleDays = 60;

const daysUntil = (at: number): number => Math.ceil((at - Date.now()) / dayMs);
const isSoon = (days: number): boolean => days > 0 && days <= soonDays;

const columns: Column<CreatedToken>[] = [
  naming(
    'Name',
    ({ name }) => name,
    ({ readOnly }) => readOnly && <span class="sub block">Read only</span>,
  ),
  { head: 'Ends in', cell: ({ lastFour }) => <code>…{lastFour}</code> },
  {
    head: 'Created',
    cell: ({ createdAt, createdBy }) => (
      <span class="break-words">
        <Day at={createdAt} />
        {createdBy && ` by ${createdBy}`}
      </span>
    ),
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
