import type { OAuth } from '../../webhooks/oauth.ts';
import { Submit } from '../ui/buttons.tsx';
import { BelowControl, Field } from '../ui/forms.tsx';
import type { SentForm } from '../ui/reader.ts';

/** What shows a receiver who is calling: parts of a webhook's form. */

const secretHeader = 'X-Webhook-Secret';

/** The headers. Values are hidden until revealed. */
export const Headers = (props: {
  stored: { [name: string]: string };
  sent: SentForm | undefined;
  isRevealed: boolean;
  secret: string | undefined;
}) => {
  const { stored, sent, isRevealed, secret } = props;
  const shown = Object.entries(stored).map(([name, value]): [string, string] => [
    name,
    isRevealed ? value : '',
  ]);
  const rows = (sent ? sentPairs(sent, 'header') : shown).filter(
    ([name]) => !secret || name.toLowerCase() !== secretHeader.toLowerCase(),
  );
  if (secret) rows.push([secretHeader, secret]);
  return (
    <fieldset class="form-section" id="headers" aria-describedby="headers-hint headers-error">
      <legend class="legend mb-1">Headers</legend>
      <p class="hint" id="headers-hint">
        Sent with every delivery. Unless deliveries are signed, anyone who knows the URL can pretend to be us:
        send a secret, and have your receiver refuse requests without it. Values are stored encrypted. To
        remove a header, empty its name.
      </p>
      <Pairs of="header" rows={rows} kept={stored} />
      <BelowControl name="headers" />
      <div class="actions">
        <Submit to="#headers" does="secret" name="Generate a secret" icon="key-round" weight="plain" small />
        {Object.keys(stored).length > 0 && !isRevealed && (
          <a class="btn btn-sm btn-ghost" href="?reveal=yes#headers">
            Show header values
          </a>
        )}
      </div>
    </fieldset>
  );
};

/** Names and values, and two empty rows. The names of `kept` values need none. */
const Pairs = (props: {
  of: 'header' | 'param';
  rows: [string, string][];
  kept?: { [name: string]: string };
}) => {
  const { of, rows, kept = {} } = props;
  const label = of === 'header' ? 'Header' : 'Parameter';
  return (
    <div class="pairs">
      <div class="pair pair-head" aria-hidden="true">
        <span>Name</span>
        <span>Value</span>
      </div>
      {[...rows, ['', ''], ['', '']].map(([name = '', value = ''], row) => (
        <div class="pair">
          <input
            class="input"
            name={`${of}Name`}
            value={name}
            placeholder="Name"
            aria-label={`${label} ${row + 1} name`}
            autocomplete="off"
            spellcheck={false}
          />
          <input
            class="input font-mono"
            name={`${of}Value`}
            value={value}
            placeholder={value === '' && Object.hasOwn(kept, name) ? 'unchanged' : 'Value'}
            aria-label={`${label} ${row + 1} value`}
            autocomplete="off"
            spellcheck={false}
          />
        </div>
      ))}
    </div>
  );
};

/** What was sent in rows, without empty ones. */
const sentPairs = (sent: SentForm, of: 'header' | 'param'): [string, string][] =>
  sent
    .values(`${of}Name`)
    .map((name, row): [string, string] => [name, sent.values(`${of}Value`)[row] ?? ''])
    .filter(([name, value]) => name || value);

/** The client that gets access tokens. A secret that was typed comes back, or the old one would be kept. */
export const OAuthFields = ({ oauth, sent }: { oauth: OAuth | undefined; sent: SentForm | undefined }) => (
  <>
    <p class="hint">
      The service gets an access token with these client credentials, and sends it in the header{' '}
      <code>Authorization</code>. Leave all empty to send none.{' '}
      <a href="/docs/webhooks#oauth-2">How it works</a>
    </p>
    <Field
      name="oauth.tokenUrl"
      label="Token URL"
      value={oauth?.tokenUrl}
      placeholder="https://login.example.com/oauth2/token"
    />
    <Field name="oauth.clientId" label="Client ID" value={oauth?.clientId} autocomplete="off" />
    <Field
      name="oauth.clientSecret"
      label="Client secret"
      type="password"
      value={sent?.value('oauth.clientSecret')}
      autocomplete="new-password"
      hint={oauth && 'Leave empty to keep it. A new token URL or client ID needs it again.'}
    />
    <Field name="oauth.scope" label="Scope" value={oauth?.scope} hint="If your token endpoint needs one." />
    <fieldset class="field" id="oauth.params" aria-describedby="params-hint oauth.params-error">
      <legend class="legend mb-1">Parameters</legend>
      <p class="hint" id="params-hint">
        What else your token endpoint needs, such as <code>audience</code> or <code>resource</code>. To remove
        one, empty its name.
      </p>
      <Pairs of="param" rows={sent ? sentPairs(sent, 'param') : Object.entries(oauth?.params ?? {})} />
      <BelowControl name="oauth.params" />
    </fieldset>
  </>
);
