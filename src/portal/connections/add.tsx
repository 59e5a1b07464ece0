import * as v from 'valibot';
import type { Connection } from '../../fleet/connections.ts';
import { invalid } from '../../platform/errors.ts';
import { Name, tooLong } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { connectProvider, type NewPull, tryCredential } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { type Draft, openDraft, sealDraft } from '../../providers/draft.ts';
import { connectorOf } from '../../providers/registry.ts';
import { done, parseForm, submit } from '../ui/form.ts';
import { type Head, page } from '../ui/layout.tsx';
import type { SentForm } from '../ui/reader.ts';
import { type Destination, Steps, type Tested } from './add-steps.tsx';
import { connectionsPath } from './connections.tsx';
import { mainInput, sentCredential } from './credential.tsx';

const maxAddress = 500;

/** Who adds a connection: somebody who is signed in, or somebody outside with a link. */
export type Adding = Destination & {
  head: Head;
  /** The hash of the session or link that drafts are encrypted for. */
  holder: string;
  connect: (input: NewPull) => Promise<Connection>;
  /** The response once the connection was added. */
  finish: (connection: Connection, said: string) => Response;
};

const inPortal = (c: Context): Adding => ({
  path: `${connectionsPath}/new`,
  back: connectionsPath,
  head: {
    title: 'Add a connection',
    above: [{ href: connectionsPath, name: 'Connections' }],
    lead: onlyRead,
    narrow: true,
  },
  holder: c.get('session').hash,
  connect: (input) => connectProvider(c.env, c.get('caller'), input),
  finish: ({ id }, said) => done(c, `${connectionsPath}/${id}`, said),
});

export const onlyRead = 'We only read. Nothing changes in your account at the provider.';

/** Adding a connection: choose the provider, test its credential, name it. Only the last step saves. */
export function show(c: Context, adding = inPortal(c), tested?: Tested) {
  const chosen = c.req.query('provider');
  const { path, back, head } = adding;
  const connector = connectorOf(chosen ?? '');
  return page(c, head, <Steps {...{ chosen, connector, tested, place: { path, back } }} />);
}

/** Handles the form of a step: a credential to test, or a tested draft to save. */
export async function take(c: Context, adding = inPortal(c)) {
  const connector = connectorOf(c.req.query('provider') ?? '');
  if (!connector) return show(c, adding);
  return submit(
    c,
    (form) =>
      form.value('draft') === '' ? test(c, adding, connector, form) : add(c, adding, connector, form),
    async ({ errors }, form) => {
      const isChoice = errors.length > 0 && errors.every(({ field }) => field in Choices.entries);
      const draft = isChoice ? await openDraft(c.env, adding.holder, form.value('draft')) : undefined;
      return show(c, adding, draft && { sealed: form.value('draft'), draft });
    },
    (field, form) => {
      if (field === 'baseUrl') return form.value('address') ? 'address' : 'region';
      return field === '' || field === 'credential' ? mainInput(connector) : field;
    },
  );
}

async function test(c: Context, adding: Adding, connector: Connector, form: SentForm) {
  const baseUrl = form.value('address').trim() || form.value('region');
  const isLong = baseUrl.length > maxAddress;
  const others = isLong ? [{ field: 'address', message: tooLong(maxAddress) }] : [];
  const credential = sentCredential(connector, form, others);
  const { provider } = connector;
  const { organisation } = await tryCredential(c.env, { provider, credential, baseUrl });
  const draft = { provider, credential, baseUrl, organisation };
  return show(c, adding, { sealed: await sealDraft(c.env, adding.holder, draft), draft });
}

const Choices = v.object({
  name: Name,
  historyDays: v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number of days'), v.transform(Number)),
});

async function add(c: Context, adding: Adding, connector: Connector, form: SentForm) {
  const draft = await openDraft(c.env, adding.holder, form.value('draft'));
  if (draft?.provider !== connector.provider)
    throw invalid('It was tested more than 15 minutes ago. Enter it once more.');
  const chosen = parseForm(Choices, form);
  return adding.finish(await adding.connect({ ...draft, ...chosen }), added(draft, chosen));
}

const added = ({ organisation }: Draft, { name, historyDays }: v.InferOutput<typeof Choices>): string => {
  const what =
    name === organisation ? `“${name}” is connected.` : `“${name}” is connected: it is “${organisation}”.`;
  return historyDays === 0
    ? `${what} It receives new data from now on.`
    : `${what} Its last ${historyDays} days are being loaded without notifications. New events notify webhooks.`;
};
