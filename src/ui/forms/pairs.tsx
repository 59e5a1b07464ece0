import { type Child, useContext } from 'hono/jsx';
import * as v from 'valibot';
import type { SentForm } from '../reader.ts';
import { FilledForm } from '../submit.ts';
import type { FormField } from './form-fields.tsx';
import { BelowControl } from './forms.tsx';

type Pair = [name: string, value: string];
type PairsProps = { legend: string; hint: Child; kept?: string[] };

/** Names and values in rows, of which two are empty. The names of `kept` values need none. */
export function pairs(label: string, of: string, props: PairsProps): FormField<Pair[]> {
  return {
    draw: (name, stored = {}) => (
      <Pairs {...{ name, label, of, stored: stored as object }} {...props} />
    ),
    read: (form) => sentPairs(form, of).filter(([name]) => name !== ''),
    schema: v.array(v.tuple([v.string(), v.string()])),
  };
}

/** What was sent in rows, without empty ones. */
export const sentPairs = (sent: SentForm, of: string): Pair[] => {
  const values = sent.values(`${of}Value`);
  const rows = sent.values(`${of}Name`).map((name, row): Pair => [name.trim(), values[row] ?? '']);
  return rows.filter(([name, value]) => name || value);
};

const Pairs = (props: PairsProps & { name: string; label: string; of: string; stored: object }) => {
  const { name, label, of, stored, legend, hint, kept = [] } = props;
  const sent = useContext(FilledForm);
  const rows = sent ? sentPairs(sent, of) : Object.entries(stored);
  const input = (part: 'Name' | 'Value', row: number, value: string, placeholder = `${part}`) => (
    <input
      class={part === 'Name' ? 'input' : 'input font-mono'}
      name={of + part}
      {...{ value, placeholder }}
      aria-label={`${label} ${row + 1} ${part.toLowerCase()}`}
      autocomplete="off"
      spellcheck={false}
    />
  );
  return (
    <fieldset class="field" id={name} aria-describedby={`${name}-hint ${name}-error`}>
      <legend class="legend mb-1">{legend}</legend>
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
      <div class="pairs">
        <div class="pair pair-head" aria-hidden="true">
          <span>Name</span>
          <span>Value</span>
        </div>
        {[...rows, ['', ''], ['', '']].map(([is = '', value = ''], row) => (
          <div class="pair">
            {input('Name', row, is)}
            {input('Value', row, value, value === '' && kept.includes(is) ? 'unchanged' : 'Value')}
          </div>
        ))}
      </div>
      <BelowControl name={name} several />
    </fieldset>
  );
};
