import * as v from 'valibot';
import { connectionName } from '../../../core/fleet/connections.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { shown } from '../../../ui/added.ts';
import { handles, line } from '../../../ui/forms/form-fields.tsx';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { done, submit } from '../../../ui/submit.ts';
import { pausePull, pullNow, resumePull, setWebhookSecret } from '../connected.ts';
import { requirePulled } from './pulled.tsx';

const acts = (action: typeof pullNow, outcome: string) => async (c: Context) => {
  const { connection } = await requirePulled(c);
  const path = connectionPath(connection);
  const act = async () => {
    await action(...by(c), connection.id);
    return done(c, path, `“${connectionName(connection)}” ${outcome}`);
  };
  return submit(c, act, ({ message }) => done(c, path, message, 'warn'));
};

export const pull = acts(pullNow, 'is being pulled now.');
export const pause = acts(pausePull, 'is paused. Nothing more is pulled until it is resumed.');
export const resume = acts(resumePull, 'is pulled again, from where it stopped.');

/** The form for the secret of a provider's webhook. */
export const webhookSecret = (provider: string, isSet = false) => ({
  secret: line(isSet ? 'New secret' : 'Secret', v.string(), {
    type: 'password',
    autocomplete: 'off',
    hint: `As ${provider} shows it. Stored encrypted, and never shown again.`,
  }),
});

/** Saves the secret of the provider's webhook. */
export const saveSecret = handles(webhookSecret(''), shown('connection'), async (c, { secret }) => {
  const { connection, connector } = await requirePulled(c);
  await setWebhookSecret(...by(c), connection.id, secret);
  const outcome = `From now on, calls from ${connector.name} make this connection pull immediately.`;
  return done(c, connectionPath(connection), `The secret was saved. ${outcome}`);
});
