import { eventsLookedAt, type PullStatus } from '../../providers/status.ts';
import { refusalsKept } from '../../providers/store.ts';
import { Panel, Table } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';

/** How many are shown before somebody asks for the others. */
const firstShown = 10;

/** How many words are shown: those that most events have. */
export const maxWords = 50;

/** The records of the provider that were refused, and why. */
export const Refusals = ({ refusals }: Pick<PullStatus, 'refusals'>) => (
  <Panel
    id="refused"
    title="Refused records"
    side={<p>{refusals.length === 0 ? 'None' : refusals.length}</p>}
  >
    {refusals.length === 0 ? (
      <p class="panel-body sub">Everything that came could be taken in.</p>
    ) : (
      <>
        <Refused caption="Refused records, the latest first" refusals={refusals.slice(0, firstShown)} />
        {refusals.length > firstShown && (
          <details class="border-t border-line">
            <summary class="sub px-4 py-3">Show {refusals.length - firstShown} more</summary>
            <Refused caption="More refused records" refusals={refusals.slice(firstShown)} />
          </details>
        )}
      </>
    )}
    <p class="panel-foot">
      The last {refusalsKept} are kept. A record that comes again in better shape is taken in.
    </p>
  </Panel>
);

const kinds: { [kind: string]: string } = {
  vehicle: 'Vehicle',
  driver: 'Driver',
  trip: 'Trip',
  safetyEvent: 'Safety event',
  accident: 'Accident',
};

const Refused = ({ caption, refusals }: { caption: string } & Pick<PullStatus, 'refusals'>) => (
  <Table caption={caption} head={['Record', 'Why', 'When']} flow>
    {refusals.map(({ kind, sourceId, reason, at }) => (
      <tr>
        <td class="card-title">
          {kinds[kind] ?? kind}
          {sourceId && (
            <span class="sub block md:min-w-36">
              <code class="break-all">{sourceId}</code>
            </span>
          )}
        </td>
        <td class="card-wide wrap-anywhere">{reason}</td>
        <td class="nowrap" data-label="When">
          <Ago at={at} />
        </td>
      </tr>
    ))}
  </Table>
);

/** The words of the provider that nothing maps to an incident type, and how many events have them. */
export const Unmapped = ({ unmapped }: Pick<PullStatus, 'unmapped'>) => (
  <Panel
    id="unmapped"
    title="Words without a type"
    side={<p>{unmapped.length === 0 ? 'None' : unmapped.length}</p>}
  >
    {unmapped.length === 0 ? (
      <p class="panel-body sub">Every incident has a type that we know.</p>
    ) : (
      <Table caption="Words without a type" head={['Word', 'Events']} flow>
        {unmapped.slice(0, maxWords).map(({ word, count }) => (
          <tr>
            <td class="card-title">
              <code class="break-all">{word}</code>
            </td>
            <td data-label="Events">{count.toLocaleString('en')}</td>
          </tr>
        ))}
      </Table>
    )}
    <p class="panel-foot">
      Of the last {eventsLookedAt.toLocaleString('en')} events
      {unmapped.length > maxWords && `, ${maxWords} are shown`}. Events with such a word alone have the type
      Other. The team that runs this service can map it.
    </p>
  </Panel>
);
