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
import { Allowed } from '../ui/allowed.tsx';
import { LinkButton, Submit } from '../ui/buttons.tsx';
import { parseForm, submit } from '../ui/form.ts';
import { confirmed, Field, Form, type Offered, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Copyable, Empty, Panel, ShownOnce } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { acting, type Column, naming, SlicePager, Table } from '../ui/table.tsx';
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

/** Settings, API Tokens; `issued` is a new one, whose value is shown only once. */
export async function list(c: Context, issued?: { name: string; value: string }) {
  const slice = requestedSlice(c, pageSize);
  const { items: tokens, next } = await listTokens(c.env, c.get('caller'), slice, 'api');
  const areAll = tokens.length > 0 && !slice.after && !next;
  return page(
    c,
    { title: 'API Tokens' },
    <>
      {issued && <NewTokenNote {...issued} origin={new URL(c.req.url).origin} />}
      <Generate />
      <Panel id="in-use" title="Tokens in use" side={areAll && <p>{inUse(tokens)}</p>}>
        <Table caption="Tokens in use" stacked columns={columns} items={tokens} empty={noTokens} />
        <SlicePager c={c} count={`${tokens.length} tokens on this page`} slice={slice} next={next} />
      </Panel>
    </>,
  );
}

function inUse(tokens: CreatedToken[]): string {
  const soon = tokens.filter(({ expiresAt }) => expiresAt !== null && expiresSoon(expiresAt)).length;
  if (soon === 0) return `${tokens.length}`;
  return `${tokens.length}, ${soon === 1 ? 'one expires' : `${soon} expire`} soon`;
}

const noTokens = (
  <Empty icon="key-round" title="No tokens yet">
    A program needs a token to read your data and to manage webhooks.
  </Empty>
);

const Generate = () => (
  <Allowed to={path}>
    <Panel id="generate" title="Generate a token">
      <Form to={path} look="panel-body">
        <div class="grid gap-4 items-end sm:grid-cols-2 lg:grid-cols-[minmax(0,1fr)_11rem_9rem_auto]">
          <Field name="name" label="Token name" required placeholder="What will use it" />
          <Select name="access" label="Access" options={accesses} />
          <Select name="expires" label="Expires" options={expiries} />
          <Submit name="Generate Token" />
        </div>
        <p class="hint mt-3">
          A token can read and change everything in this account. A read-only token can change nothing, and
          does not see webhook headers. Give each system its own token, so that you can revoke one without
          stopping the others.
        </p>
      </Form>
    </Panel>
  </Allowed>
);

const NewToken = v.object({
  name: Name,
  access: v.picklist(['', 'read'], 'must be one of the choices'),
  expires: v.pipe(
    v.string(),
    v.check((days) => expiries.some(([choice]) => choice === days), 'must be one of the choices'),
    v.transform((days) => (days === '' ? undefined : Date.now() + Number(days) * dayMs)),
  ),
});

export const generate = (c: Context) =>
  submit(
    c,
    async (form) => {
      const { name, access, expires } = parseForm(NewToken, form);
      const wanted = { name, readOnly: access === 'read', expiresAt: expires };
      return list(c, await issueToken(c.env, c.get('caller'), wanted));
    },
    () => list(c),
    'name',
  );

export const revoke = confirmed(async (c) => {
  const { id, name } = await requireToken(c);
  return {
    title: `Revoke “${name}”?`,
    text: 'The API will reject this token from now on. Programs that still use it stop working. You cannot undo this.',
    does: () => revokeToken(c.env, c.get('caller'), id),
    said: `Revoked “${name}”: the API now rejects it.`,
    back: path,
  };
});

/** The token in the path. @throws Refusal: not found, also for another account's */
async function requireToken(c: Context) {
  return found(await findTokenById(c.env, c.get('caller'), c.req.param('id') ?? ''));
}

/** How long before its end, and after its last use, a token is marked. */
const soonDays = 14;
const staleDays = 60;

const daysUntil = (at: number): number => Math.ceil((at - Date.now()) / dayMs);
const expiresSoon = (at: number): boolean => at > Date.now() && daysUntil(at) <= soonDays;

/** A new token's value, and how to try it. */
const NewTokenNote = (props: { name: string; value: string; origin: string }) => (
  <ShownOnce
    id="token"
    title={`Copy “${props.name}” now`}
    value={props.value}
    more={
      <details class="mt-3">
        <summary class="sub">Try it with curl</summary>
        <Copyable id="curl" text={`curl -H 'x-api-key: ${props.value}' ${props.origin}/connections`} />
      </details>
    }
  >
    This is the only time its value is shown. Lost it? Revoke it and generate another.
  </ShownOnce>
);

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
  if (at <= Date.now()) return <State mood="quiet">Expired</State>;
  if (!expiresSoon(at)) return <Day at={at} />;
  const days = daysUntil(at);
  return <State mood="warn">{days === 1 ? 'Within a day' : `In ${days} days`}</State>;
};
