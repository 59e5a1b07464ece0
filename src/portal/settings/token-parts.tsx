import type { ApiToken } from '../../accounts/tokens/service.ts';
import { Copyable } from '../ui/copyable.tsx';
import { LinkButton } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { Table } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { Ago, Day } from '../ui/time.tsx';

const dayMs = 86_400_000;

/** How long before its end a token is told apart, and how long after its last use. */
const soonDays = 14;
const staleDays = 60;

/** Whether a token still works, but not for long. */
export const expiresSoon = ({ expiresAt }: { expiresAt: number | null }): boolean =>
  expiresAt !== null && expiresAt > Date.now() && expiresAt <= Date.now() + soonDays * dayMs;

/** A new token's value: the only time that it is shown. */
export const NewTokenNote = (props: { name: string; value: string; origin: string }) => (
  <section class="note note-ok" aria-labelledby="new-token">
    <Icon name="key-round" />
    <div class="col-span-2">
      <h2 id="new-token">Copy “{props.name}” now</h2>
      <p>This is the only time its value is shown. Lost it? Revoke it and generate another.</p>
      <Copyable id="token" text={props.value} />
      <details class="mt-3">
        <summary class="sub">Try it with curl</summary>
        <Copyable id="curl" text={`curl -H 'x-api-key: ${props.value}' ${props.origin}/connections`} />
      </details>
    </div>
  </section>
);

/** Tokens with who created them, and which are no longer used. */
export const TokenTable = ({ tokens }: { tokens: ApiToken[] }) => (
  <Table caption="Tokens in use" head={['Name', 'Ends in', 'Created', 'Last used', 'Expires', '']}>
    {tokens.map((token) => (
      <tr>
        <td class="card-title">
          <strong class="font-medium break-words">{token.name}</strong>
        </td>
        <td data-label="Ends in">
          <code>…{token.lastFour}</code>
        </td>
        <td data-label="Created">
          <span class="break-words">
            <Day at={token.createdAt} />
            {token.createdBy && ` by ${token.createdBy}`}
          </span>
        </td>
        <td class="nowrap" data-label="Last used">
          <span>
            <LastUsed token={token} />
          </span>
        </td>
        <td class="nowrap" data-label="Expires">
          <span>
            <Expiry at={token.expiresAt} />
          </span>
        </td>
        <td class="card-side end">
          <LinkButton
            href={`/portal/settings/tokens/${token.id}/revoke`}
            name="Revoke"
            about={token.name}
            weight="danger"
            small
          />
        </td>
      </tr>
    ))}
  </Table>
);

const LastUsed = ({ token: { lastUsedAt, createdAt } }: { token: ApiToken }) => {
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
  if (!expiresSoon({ expiresAt: at })) return <Day at={at} />;
  const days = Math.ceil((at - Date.now()) / dayMs);
  return <State mood="warn">{days === 1 ? 'Within a day' : `In ${days} days`}</State>;
};
