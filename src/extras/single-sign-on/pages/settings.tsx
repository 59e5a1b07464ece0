import * as v from 'valibot';
import { invalid } from '../../../core/platform/errors.ts';
import { emailForm, Line } from '../../../core/platform/fields.ts';
import { type Context, seeOther } from '../../../core/platform/http/context.ts';
import { type Role, roles } from '../../../core/platform/roles.ts';
import { LinkButton, roleNames } from '../../../ui/buttons.tsx';
import { choice, FormPanel, handles, line } from '../../../ui/forms/form-fields.tsx';
import type { Offered } from '../../../ui/forms/forms.tsx';
import { page } from '../../../ui/layout.tsx';
import { Copyable, Facts, Panel, State } from '../../../ui/parts.tsx';
import { done } from '../../../ui/submit.ts';
import { Day } from '../../../ui/time.tsx';
import { recordFor, recordName, textsAt } from '../dns.ts';
import { proof } from '../domain-checks.ts';
import { saveSingleSignOn } from '../save.ts';
import { findProvider, findSingleSignOn, maxDomains } from '../single-sign-on.ts';
import { begin, redirectUri, settingsPath, tested, textsInWords } from './at-provider.tsx';

/** Settings, Sign-in: how the account's people sign in by its own provider. */
export async function show(c: Context) {
  const { found, domains, admins } = await findSingleSignOn(c.env, c.get('caller'));
  const { user } = c.get('session');
  const stored = {
    linkUserId: user.id,
    ...found[0],
    domains: domains.map(({ domain }) => domain).join(', '),
  };
  const offered = admins.map(({ id, email }): Offered => [id, email]);
  return page(
    c,
    { title: 'Sign-in' },
    <>
      <FormPanel
        title="Single sign-on"
        lead="Your people sign in with their company accounts, through OpenID Connect."
        to={settingsPath}
        send="Save"
        hint={<a href="/docs/portal#single-sign-on">How to set it up</a>}
        fields={fieldsFor(offered, found.length > 0)}
        stored={stored}
      />
      <Panel
        title="Provider and DNS"
        side={found[0] && <LinkButton href={`${settingsPath}/test`} name="Test sign-in" small />}
        body="grid gap-4"
      >
        <div>
          <p>Your provider needs this redirect URI:</p>
          <Copyable id="redirect-uri" text={redirectUri(c, user.accountId)} />
        </div>
        <div>
          <p>
            Each domain needs a TXT record in its DNS, such as{' '}
            <code>{recordName('example.com')}</code>, with this value. Save again once it is there:
            these people must then use your provider.
          </p>
          <Copyable id="record" text={recordFor(user.accountId)} />
        </div>
        <Facts facts={domains.map((one) => [one.domain, stateOf(one)])} />
      </Panel>
    </>,
  );
}

function stateOf({ provenAt, checkedAt }: { provenAt: number | null; checkedAt: number }) {
  if (provenAt === null) return <State mood="warn">Not proven</State>;
  if (provenAt === checkedAt) return <State mood="ok">Proven</State>;
  return (
    <State mood="warn">
      Record not found, proven until <Day at={provenAt + proof.expiresMs} />
    </State>
  );
}

const Text = v.pipe(Line(500), v.minLength(1, 'must not be empty'));
const Issuer = v.pipe(
  Text,
  v.check((text) => URL.parse(text)?.protocol === 'https:', 'must be an absolute https URL'),
);
const Domains = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.transform((text) => text.split(/[\s,]+/).filter(Boolean)),
  v.check((list) => list.length <= maxDomains, `can be at most ${maxDomains}`),
  v.check(
    (list) => list.every((one) => emailForm.test(`a@${one}`)),
    'must be domains, such as example.com',
  ),
);

const newcomers: Offered<Role | ''>[] = [
  ['', 'Cannot sign in'],
  ...roles
    .toReversed()
    .map((role): Offered<Role> => [role, `Are added as ${role}s: ${roleNames[role]}`]),
];

const fieldsFor = (admins: Offered[] = [], isSet = false) => ({
  issuer: line('Issuer', Issuer, {
    type: 'url',
    required: true,
    placeholder: 'https://login.example.com',
  }),
  clientId: line('Client ID', Text, { required: true, autocomplete: 'off' }),
  secret: line('Client secret', Line(2000), {
    ...{ type: 'password', required: !isSet, autocomplete: 'off' },
    hint: isSet ? 'Leave empty to keep the current one.' : 'It is encrypted, and never shown.',
  }),
  domains: line('Email domains that must use it', Domains, {
    ...{ placeholder: 'example.com, example.org' },
    hint: 'Each applies once you have proven that it is yours, see below. Leave empty to remove single sign-on.',
  }),
  role: choice('People who have not been invited', newcomers),
  linkUserId: {
    ...choice('Admin who can always use an emailed link, if the provider fails', admins),
    schema: v.string(),
  },
});

export const save = handles(fieldsFor(), show, async (c, { role, ...given }) => {
  const caller = c.get('caller');
  const asked = given.domains.map(async (domain) => ({
    domain,
    texts: await textsAt(c.env, domain),
  }));
  const found = await Promise.all(asked);
  const isProven = ({ texts }: (typeof found)[number]) =>
    texts?.includes(recordFor(caller.accountId)) === true;
  const proven = found.filter(isProven).map(({ domain }) => domain);
  await saveSingleSignOn(c.env, caller, { ...given, role: role || null, proven });
  if (given.domains.length === 0) return done(c, settingsPath, 'Single sign-on is removed.');
  const others = found
    .filter((one) => !isProven(one))
    .map(({ domain, texts }) => textsInWords(domain, texts));
  return done(c, settingsPath, ['Saved.', ...others].join(' '), others.length > 0 ? 'warn' : 'ok');
});

/** Signs in without changing anything, to show what the provider returns. */
export const test = (c: Context) =>
  tested(c, async () => {
    const provider = await findProvider(c.env, c.get('caller'));
    if (!provider) throw invalid('Enter your provider before you test it.');
    return seeOther(c, await begin(c, provider, 'test'));
  });
