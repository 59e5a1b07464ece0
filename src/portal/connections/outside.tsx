import { type Context, seeOther } from '../../platform/http/context.ts';
import { enterHome } from '../../platform/http/home.ts';
import { limit, limitByAddress } from '../../platform/http/limits.ts';
import { connectByLink, linkHash, openLink, withdraw } from '../../providers/links.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { confirmed } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { type Adding, onlyRead, show as showForm, take as takeForm } from './add.tsx';

/** The page of a connect link: the form, or what was connected by it. */
const withLink = (form: typeof showForm | typeof takeForm) => (c: Context) =>
  opened(c, (found) => (found.link.connectionId === null ? form(c, adding(c, found)) : connected(c, found)));
export const show = withLink(showForm);
export const take = withLink(takeForm);

type Opened = NonNullable<Awaited<ReturnType<typeof openLink>>>;

/** Opens the link in the path. Only valid secrets are looked up, and each has its own rate limit. */
async function opened(c: Context, then: (found: Opened) => Response | Promise<Response>): Promise<Response> {
  const hash = await linkHash(c.env, c.req.param('link') ?? '');
  if (hash) await limit(c.env, 'ACTION_LIMIT', hash);
  else await limitByAddress(c, 'LINK_REQUEST_LIMIT');
  const found = hash && (await openLink(c.env, hash));
  if (!found)
    return page(
      c,
      { title: 'This link does not work', lead: 'It has expired or was revoked. Ask for another one.' },
      null,
      'not found',
    );
  enterHome(c, found.home, found.caller.accountId);
  return then(found);
}

const pathOf = (c: Context): string => `/portal/connect/${c.req.param('link')}`;

const adding = (c: Context, { caller, link }: Opened): Adding => ({
  head: {
    title: `Connect your fleet to ${link.account}`,
    lead: `${link.account} will see your vehicles, drivers, trips, safety events and accidents, but not your credential. ${onlyRead} You can withdraw your consent with the same link.`,
  },
  connect: (input) => connectByLink(c.env, caller, input),
  next: () => pathOf(c),
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
      <LinkButton href={`${pathOf(c)}/withdraw`} name="Withdraw consent" weight="danger" />
    ),
  );
}

/** Withdraws consent, once that is confirmed. */
export const end = (c: Context) =>
  opened(c, ({ caller, link: { account, connection, connectionId, withdrawnAt } }) =>
    connectionId === null || withdrawnAt !== null
      ? seeOther(c, pathOf(c))
      : confirmed(async () => ({
          title: 'Withdraw your consent?',
          text: `Nothing more of “${connection}” is read, and its credential is deleted here. ${account} keeps what it has received. To connect again, you need another link.`,
          does: () => withdraw(c.env, caller, connectionId),
          said: 'Your consent was withdrawn.',
          back: pathOf(c),
        }))(c),
  );
