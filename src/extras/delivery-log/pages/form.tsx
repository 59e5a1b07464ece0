import { timestamp } from '../../../core/platform/fields.ts';
import type { Attempt } from '../../../core/webhooks/deliveries/policy.ts';
import {
  ACCIDENT,
  EVENT,
  type NotificationType,
} from '../../../core/webhooks/notifications/types.ts';
import { outcomeOf } from '../../../texts/outcome.ts';
import type { WebhookForm } from '../../../ui/added-to-webhooks.ts';
import { Submit } from '../../../ui/buttons.tsx';
import { Note } from '../../../ui/parts.tsx';
import { madeUp, tryReceiver } from '../simulate.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The result of the test that was just sent. */
    tried?: Attempt;
  }
}

/** What it adds to the form of a webhook: samples, and a test of what is typed. */
export const webhookForm: WebhookForm = {
  draw: async (c) => ({
    samples: (
      <>
        <Sample of="an accident" type={ACCIDENT} />
        <Sample of="a safety event" type={EVENT} />
      </>
    ),
    last: <Test tried={c.get('tried')} />,
  }),
  button: {
    does: 'test',
    press: async (c, input, id) => {
      // A test does not count as the form, which may still be sent to save it.
      const { alongside: _, ...caller } = c.get('caller');
      c.set('tried', await tryReceiver(c.env, caller, input, id));
    },
  },
};

const Sample = ({ of, type }: { of: string; type: NotificationType }) => {
  const [first] = madeUp({ type }, { connectionIds: [] });
  const body = { timestamp: timestamp(Date.now()), type: first?.type, data: first?.data };
  return (
    <details class="sample">
      <summary>Sample payload of {of}</summary>
      <pre tabindex={0}>{JSON.stringify(body, null, 2)}</pre>
    </details>
  );
};

const Test = ({ tried }: { tried: Attempt | undefined }) => (
  <section class="form-section" id="test" aria-labelledby="test-title">
    <div>
      <h2 class="legend" id="test-title">
        Test
      </h2>
      <p class="hint">
        Sends one made-up notification now, exactly as deliveries are sent: with these headers, an
        access token if OAuth 2 is set, and a signature if it was saved with one. Nothing is saved.
      </p>
    </div>
    {tried && (
      <Note
        mood={tried.result === 'success' ? 'ok' : 'bad'}
        role="status"
        more={'answer' in tried && tried.answer && <pre class="answer">{tried.answer}</pre>}
      >
        <strong>{outcomeOf(tried)}</strong>
        {tried.result !== 'success' && tried.status && ' Only a 2xx status counts as delivered.'}
      </Note>
    )}
    <div class="actions">
      <Submit to="#test" does="test" name="Send a test" icon="send" weight="plain" small />
    </div>
  </section>
);
