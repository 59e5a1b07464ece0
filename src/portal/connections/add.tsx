import * as v from 'valibot';
import { type FieldError, invalid } from '../../platform/errors.ts';
import { Name, parse, tooLong } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { connectProvider, tryCredential } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { type Draft, openDraft, sealDraft } from '../../providers/draft.ts';
import { connectorOf } from '../../providers/registry.ts';
import { done, type FormProblem, readForm, type SentForm, submit } from '../ui/form.ts';
import { errorsOfForm } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { type AddState, Steps } from './add-steps.tsx';
import { connectionsPath } from './connections.tsx';
import { sentCredential } from './credential.tsx';

const maxAddress = 500;

/** Adding a connection: choose the provider, test its credential, name it. Nothing is saved before the end. */
export function show(c: Context, state: AddState) {
  const chosen = c.req.query('provider');
  return page(
    c,
    {
      title: 'Add a connection',
      above: [{ href: connectionsPath, name: 'Connections' }],
      lead: 'We only read. Nothing changes in your account at the provider.',
      narrow: true,
    },
    <Steps chosen={chosen} connector={connectorOf(chosen ?? '')} state={state} />,
    state.errors && 'invalid',
  );
}

/** Takes the form of the step that a page shows: a credential to test, or a draft that was tested, to be saved. */
export async function take(c: Context) {
  const connector = connectorOf(c.req.query('provider') ?? '');
  const form = await readForm(c);
  if (!connector) return show(c, {});
  return form.value('draft') === '' ? test(c, connector, form) : add(c, connector, form);
}

async function test(c: Context, connector: Connector, form: SentForm) {
  const baseUrl = form.value('address').trim() || form.value('region');
  const again = (problem: FormProblem) =>
    show(c, { typed: form.value, errors: inForm(errorsOfForm(problem, 'credential'), form) });
  return submit(async () => {
    const { credential, errors } = sentCredential(connector, form);
    if (baseUrl.length > maxAddress) errors.push({ field: 'address', message: tooLong(maxAddress) });
    if (errors.length > 0) throw invalid('', errors);
    const { provider } = connector;
    const { organisation } = await tryCredential(c.env, { provider, credential, baseUrl });
    const draft = { provider, credential, baseUrl, organisation };
    const sealed = await sealDraft(c.env, c.get('session').hash, draft);
    return show(c, { tested: { sealed, draft }, typed: (name) => (name === 'name' ? organisation : '') });
  }, again);
}

/** The address is chosen, or typed. */
const inForm = (errors: FieldError[], form: SentForm): FieldError[] =>
  errors.map((error) =>
    error.field === 'baseUrl' ? { ...error, field: form.value('address') ? 'address' : 'region' } : error,
  );

const Choices = v.object({
  name: Name,
  historyDays: v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number of days'), v.transform(Number)),
});

async function add(c: Context, connector: Connector, form: SentForm) {
  const sealed = form.value('draft');
  const draft = await openDraft(c.env, c.get('session').hash, sealed);
  if (draft?.provider !== connector.provider)
    return show(c, {
      errors: [
        { field: 'credential', message: 'It was tested more than 15 minutes ago. Enter it once more.' },
      ],
    });
  return submit(
    async () => {
      const chosen = parse(Choices, { name: form.value('name'), historyDays: form.value('historyDays') });
      const connection = await connectProvider(c.env, c.get('caller'), { ...draft, ...chosen });
      return done(c, `${connectionsPath}/${connection.id}`, added(draft, chosen));
    },
    (problem) => {
      const errors = errorsOfForm(problem, 'credential');
      const isChoice = errors.every(({ field }) => field === 'name' || field === 'historyDays');
      return show(c, { typed: form.value, errors, ...(isChoice && { tested: { sealed, draft } }) });
    },
  );
}

const added = ({ organisation }: Draft, { name, historyDays }: v.InferOutput<typeof Choices>): string => {
  const what =
    name === organisation ? `“${name}” is connected.` : `“${name}” is connected: it is “${organisation}”.`;
  return historyDays === 0
    ? `${what} What happens from now on comes in.`
    : `${what} Its last ${historyDays} days are being loaded, which notifies nobody; what happens from now on does.`;
};
