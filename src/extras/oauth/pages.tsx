import type { Child } from 'hono/jsx';
import type { Pages } from '../../ui/added.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { drawn, filled, line, Trimmed, valuesIn } from '../../ui/forms/form-fields.tsx';
import { pairs } from '../../ui/forms/pairs.tsx';
import type { OAuth } from './client.ts';

export const pages: Pages = {
  webhook: async (_, reading) => {
    const { oauth } = await reading;
    return { facts: [['OAuth 2', oauth ? tokensFrom(oauth) : 'None']] };
  },
  webhookForm: {
    async draw(_, reading) {
      const oauth = (await reading)?.oauth;
      const isSet = oauth !== undefined;
      return {
        folded: {
          ...{ id: 'oauth', title: 'OAuth 2', isSet },
          hint: (
            <>
              The service gets an access token with these client credentials, and sends it in the
              header <code>Authorization</code>. Leave all empty to send none.{' '}
              <a href="/docs/webhooks#oauth-2">How it works</a>
            </>
          ),
          fields: drawn(fields(isSet), oauth),
        },
      };
    },
    bodyOf(form) {
      const { 'oauth.params': params, ...client } = valuesIn(fields(), form);
      const oauth = filled(client);
      const isSet = Object.keys(oauth).length + params.length > 0;
      return { oauth: isSet ? { ...oauth, params: Object.fromEntries(params) } : null };
    },
  },
  callHeaders: ({ oauth }) => (oauth ? { Authorization: 'Bearer …' } : {}),
};

/** The client that gets access tokens. A typed secret comes back, or the old one would be kept. */
const fields = (isStored?: boolean) => ({
  'oauth.tokenUrl': line('Token URL', Trimmed, {
    placeholder: 'https://login.example.com/oauth2/token',
  }),
  'oauth.clientId': line('Client ID', Trimmed, { autocomplete: 'off' }),
  'oauth.clientSecret': line('Client secret', Trimmed, {
    type: 'password',
    comesBack: true,
    autocomplete: 'new-password',
    hint: isStored
      ? 'Leave empty to keep it. A new token URL or client ID needs it again.'
      : undefined,
  }),
  'oauth.scope': line('Scope', Trimmed, 'If your token endpoint needs one.'),
  'oauth.params': pairs('Parameter', 'param', {
    legend: 'Parameters',
    hint: [
      'What else your token endpoint needs, such as ',
      <code>audience</code>,
      ' or ',
      <code>resource</code>,
      '. To remove one, empty its name.',
    ],
  }),
});

/** Where access tokens come from. The values of parameters may be secrets. */
const tokensFrom = ({ tokenUrl, params = {} }: OAuth): Child => [
  <Breakable text={new URL(tokenUrl).host} />,
  Object.keys(params).length > 0 && <div class="sub">with {Object.keys(params).join(', ')}</div>,
];
