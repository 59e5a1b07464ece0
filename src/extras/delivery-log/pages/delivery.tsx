import { by, type Context, orNotFound } from '../../../core/platform/http/context.ts';
import { capital } from '../../../core/platform/text.ts';
import { type DeliveryKey, maxAttemptsOf } from '../../../core/webhooks/deliveries/policy.ts';
import { ACCIDENT } from '../../../core/webhooks/notifications/types.ts';
import { findWebhook, type StoredWebhook } from '../../../core/webhooks/stored.ts';
import { briefly, outcomeOf } from '../../../texts/outcome.ts';
import { counted, duration } from '../../../texts/words.ts';
import { added } from '../../../ui/added.ts';
import { CopyButton, PostButton, shownUrl } from '../../../ui/buttons.tsx';
import { page } from '../../../ui/layout.tsx';
import { Empty, Facts, Panel, Risk, State, Status } from '../../../ui/parts.tsx';
import { done, submit } from '../../../ui/submit.ts';
import { Time } from '../../../ui/time.tsx';
import { aboveOf } from '../../../ui/webhooks.ts';
import { afterAttempt, type Delivery, findDelivery } from '../find.ts';
import { replayOne, sendNow } from '../replay.ts';
import { madeUpVin } from '../simulate.ts';
import { nameOf, subjectOf } from './deliveries.tsx';
import { asCurl, type CallHeaders, hidden, requestOf } from './request.ts';

/** The page of a delivery. */
export async function detail(c: Context) {
  const [delivery, receiver] = await Promise.all([
    requireDelivery(c),
    findWebhook(...by(c), c.req.param('id') ?? ''),
  ]);
  const { webhookId, id, eventId, type, status, log, about, webhook } = delivery;
  const [list, name] = type === ACCIDENT ? ['accidents', 'accident'] : ['events', 'event'];
  const isMadeUp = about?.vin === madeUpVin;
  const { path } = c.req;
  return page(
    c,
    {
      title: nameOf(delivery),
      above: aboveOf(webhook && { ...webhook, id: webhookId }),
      state: <Status delivery={delivery} webhook={webhook} />,
      lead: subjectOf(about),
      actions:
        webhook &&
        (status === 'pending' ? (
          <PostButton to={`${path}/send`} name="Send now" icon="send" />
        ) : (
          <PostButton to={`${path}/replay`} name="Replay" icon="rotate-ccw" />
        )),
    },
    <div class="stack" data-live>
      {status === 'delivered' && (
        <p class="sub">
          It was delivered: if you replay it, your receiver will see a repeat, with the same
          Delivery-Id.
        </p>
      )}
      <div class="cols cols-3-2">
        <div class="stack">
          <Attempts delivery={delivery} />
          <Request {...{ delivery, receiver }} parts={added(c, 'callHeaders')} />
        </div>
        <Panel
          title="Delivery"
          side={about && !isMadeUp && <a href={`/portal/${list}/${eventId}`}>See the {name}</a>}
          body
        >
          <Facts
            facts={[
              ['Risk', about?.risk && <Risk risk={about.risk} named />],
              ['Made up', isMadeUp && 'Yes, as a test'],
              ['Attempts', log.length + delivery.attemptsOmitted],
              ['Ended', delivery.finishedAt && <Time at={delivery.finishedAt} seconds />],
              ['Delivery-Id', <code class="text-xs">{id}</code>],
              ['Event ID', <code class="text-xs">{eventId}</code>],
              [
                'Request ID',
                delivery.requestId && <code class="text-xs">{delivery.requestId}</code>,
              ],
            ]}
          />
        </Panel>
      </div>
    </div>,
  );
}

type Found = Awaited<ReturnType<typeof requireDelivery>>;

/** The delivery in the path. @throws Refusal: not found, also for another account's */
async function requireDelivery(c: Context) {
  const key = { webhookId: c.req.param('id') ?? '', id: c.req.param('deliveryId') ?? '' };
  return orNotFound(await findDelivery(...by(c), key));
}

const Attempts = ({ delivery }: { delivery: Delivery }) => {
  const { status, type, attempts, log, attemptsOmitted } = delivery;
  const last = status === 'pending' && attempts > 0 && log.at(-1);
  const failed = counted(attempts, 'attempt has failed', 'attempts have failed');
  const omitted = `The first and the latest 20. ${attemptsOmitted} between them are not kept.`;
  return (
    <Panel
      title="Attempts"
      side={attemptsOmitted > 0 && <p>{omitted}</p>}
      foot={
        last &&
        `${failed}. ${outcomeOf(last)} Attempt ${attempts + 1} of ${maxAttemptsOf(type)} follows.`
      }
    >
      {log.length === 0 && (
        <Empty
          icon="clock"
          title="None yet"
          text="An attempt appears here as soon as your receiver responds."
        />
      )}
      <ol class="rows attempts">
        {log.map((attempt) => (
          <li class="row-stacked">
            <State mood={attempt.result === 'success' ? 'ok' : 'bad'}>{briefly(attempt)}</State>
            <div>
              in {duration(attempt.durationMs)}
              {attempt.reason && <p>{capital(attempt.reason)}</p>}
              {'answer' in attempt && attempt.answer !== '' && (
                <pre>
                  <code>{attempt.answer}</code>
                </pre>
              )}
            </div>
            <span class="when">
              <Time at={attempt.at} seconds />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
};

/** What is sent, and the same as a command; without headers if the webhook was deleted. */
const Request = (props: {
  delivery: Found;
  receiver: StoredWebhook | undefined;
  parts: CallHeaders[];
}) => {
  const { delivery, receiver, parts } = props;
  const { payload } = delivery;
  if (payload === null || !receiver)
    return (
      <Panel title="Request" lead={payload && 'Its data. The webhook was deleted.'}>
        {payload ? (
          <Code>{JSON.stringify(payload, null, 2)}</Code>
        ) : (
          <p class="panel-body">No longer kept.</p>
        )}
      </Panel>
    );
  const url = shownUrl(receiver.url);
  const request = requestOf(receiver, delivery, parts);
  const head = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const body = JSON.stringify(request.body, null, 2);
  return (
    <Panel
      title="Request"
      lead={`As the webhook is now. ${hidden} stands for values that may be secret.`}
      side={<CopyButton of="curl" name="Copy as curl" small />}
    >
      <Code>{[`${receiver.httpVerb} ${url}`, ...head, '', body].join('\n')}</Code>
      <details class="panel-body">
        <summary class="sub">The same with curl</summary>
        <pre class="answer" id="curl">
          {asCurl(receiver.httpVerb, url, request)}
        </pre>
      </details>
    </Panel>
  );
};

const Code = ({ children }: { children: string }) => (
  <pre class="payload" tabindex={0}>
    <code>{children}</code>
  </pre>
);

const sends =
  (how: typeof sendNow | typeof replayOne, said: (delivery: Found) => string = () => '') =>
  async (c: Context) => {
    const delivery = await requireDelivery(c);
    return send(c, pathOf(delivery), said(delivery), async () => {
      await how(...by(c), delivery);
      return delivery;
    });
  };

export const sendDelivery = sends(sendNow);
export const replayDelivery = sends(replayOne, (delivery) => {
  const subject = [nameOf(delivery), delivery.about?.vehicle || delivery.about?.vin];
  return `Replayed: ${subject.filter(Boolean).join(', ')}. `;
});

const pathOf = ({ webhookId, id }: Delivery): string =>
  `/portal/webhooks/${webhookId}/deliveries/${id}`;

/** Sends a delivery, waits a moment for the response, and says on the page `to` what came of it. */
export function send(c: Context, to: string, said: string, start: () => Promise<DeliveryKey>) {
  const since = Date.now();
  return submit(
    c,
    async () => {
      const key = await start();
      const { webhook, last } = (await afterAttempt(...by(c), key, since)) ?? {};
      if (last && last.at >= since)
        return done(c, to, said + outcomeOf(last), last.result === 'success' ? 'ok' : 'warn');
      return webhook?.pausedAt || webhook?.openUntil
        ? done(c, to, `${said}It is waiting, because the webhook is paused.`, 'warn')
        : done(c, to, `${said}It is on its way.`);
    },
    ({ message }) => done(c, to, `${message}.`, 'quiet'),
  );
}
