import { FormButton } from '../ui/buttons.tsx';
import { FieldProblem } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { type FormState, filledRows, type WebhookFields } from './sent.ts';

type Header = WebhookFields['headers'][number];
const empty: Header = { name: '', value: '' };

/** The headers as rows, and an empty one. Removed rows keep their places, which identify headers. */
export const Headers = (props: { state: FormState; revealed: boolean; to: string; path: string }) => {
  const { state, revealed, to, path } = props;
  const { fields, shown, added } = state;
  const hasHidden = shown.headers.some(({ value }) => value === undefined);
  return (
    <fieldset class="form-section" id="headers" aria-describedby="headers-error">
      <legend class="legend mb-1">Headers</legend>
      <p class="hint">
        Sent with every delivery. Unless deliveries are signed, anyone who knows the URL can pretend to be us:
        send a secret, and have your receiver refuse requests without it. Values are stored encrypted.
      </p>
      <div class="pairs">
        <div class="pair pair-head" aria-hidden="true">
          <span>Name</span>
          <span>Value</span>
        </div>
        {[...filledRows(fields, shown), empty].map((row, place) =>
          place < shown.headers.length && row.name === '' && shown.headers[place]?.name !== '' ? (
            <Removed />
          ) : (
            <Pair
              row={row}
              place={place}
              to={to}
              kept={
                shown.headers[place] !== undefined && shown.headers[place]?.value === undefined && !revealed
              }
              focus={place === added}
            />
          ),
        )}
      </div>
      <FieldProblem name="headers" />
      <div class="actions">
        <FormButton to={`${to}#headers`} does="secret" icon="key-round">
          Generate a secret
        </FormButton>
        <FormButton to={`${to}#headers`} does="row" icon="plus" ghost>
          Add a header
        </FormButton>
        {hasHidden && (
          <a class="btn btn-sm btn-ghost" href={`${path}?reveal=yes#headers`}>
            Show header values
          </a>
        )}
      </div>
    </fieldset>
  );
};

const Removed = () => (
  <>
    <input type="hidden" name="headerName" value="" />
    <input type="hidden" name="headerValue" value="" />
  </>
);

/** `kept`: the value is hidden, and stays unless another is typed. */
const Pair = (props: { row: Header; place: number; to: string; kept: boolean; focus: boolean }) => {
  const { row, place, to, kept, focus } = props;
  const isHidden = kept && !row.value;
  return (
    <div class="pair">
      <input
        class="input wide"
        name="headerName"
        value={row.name}
        placeholder="Name"
        aria-label={`Header ${place + 1} name`}
        autocomplete="off"
        spellcheck={false}
        autofocus={focus && row.name === ''}
      />
      <input
        class="input font-mono"
        name="headerValue"
        value={row.value}
        type={isHidden ? 'password' : 'text'}
        placeholder={isHidden ? 'unchanged' : 'Value'}
        aria-label={`Header ${place + 1} value`}
        autocomplete={isHidden ? 'new-password' : 'off'}
        spellcheck={false}
        autofocus={focus && row.name !== ''}
      />
      <button
        class="btn btn-ghost"
        type="submit"
        name="do"
        value={`remove ${place}`}
        formaction={`${to}#headers`}
        aria-label={`Remove header ${place + 1}`}
      >
        <Icon name="x" />
      </button>
    </div>
  );
};
