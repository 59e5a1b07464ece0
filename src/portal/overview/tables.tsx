import type { Affected as AffectedRow, Span, TypeCount } from '../../fleet/trends/read.ts';
import { Empty, Panel } from '../ui/parts.tsx';
import { eventsIn } from './paths.ts';

/** The most frequent incident types of a span, each with its change. */
export const IncidentTypes = ({ span, types }: { span: Span; types: TypeCount[] }) => {
  const most = Math.max(1, ...types.map(({ events }) => events));
  return (
    <Panel id="types" title="Incident types" side={<p>{span.days} days, change to before</p>}>
      {types.length === 0 ? (
        <Nothing span={span} />
      ) : (
        <table class="data mt-1">
          <caption class="sr-only">Incident types of the last {span.days} days</caption>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col" class="num">
                Events
              </th>
              <th scope="col" class="num">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            {types.map(({ type, events, before }) => (
              <tr>
                <td class="w-full">
                  <a class="cover" href={eventsIn(span, { type })}>
                    {type}
                  </a>
                  <svg class="hbar" aria-hidden="true">
                    <rect class="fill-rest" width="100%" height="100%" rx="3" />
                    <rect class="fill-main" width={`${percentOf(events, most)}%`} height="100%" rx="3" />
                  </svg>
                </td>
                <td class="num">{events.toLocaleString('en')}</td>
                <td class="num quiet">{signed(events - before)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
};

const headings = { vehicle: 'Vehicle', driver: 'Driver' };

/** The vehicles or drivers with the most events of risk 4 and 5. */
export const Affected = (props: { which: 'vehicle' | 'driver'; span: Span; affected: AffectedRow[] }) => {
  const { which, span, affected } = props;
  return (
    <Panel
      id={`${which}s`}
      title={`Most affected ${which}s`}
      side={<p>{span.days} days, events of risk 4 and 5</p>}
    >
      {affected.length === 0 ? (
        <Nothing span={span} />
      ) : (
        <table class="data mt-1">
          <caption class="sr-only">
            {headings[which]}s with the most events of risk 4 and 5 in the last {span.days} days
          </caption>
          <thead>
            <tr>
              <th scope="col">{headings[which]}</th>
              <th scope="col" class="num">
                Risk 5
              </th>
              <th scope="col" class="num">
                Risk 4
              </th>
              <th scope="col" class="num">
                Both
              </th>
            </tr>
          </thead>
          <tbody>
            {affected.map(({ id, name, risk4, risk5 }) => (
              <tr>
                <td class="w-full break-words">
                  <a class="cover" href={`/portal/${which}s/${id}`}>
                    {name}
                  </a>
                </td>
                <td class="num">{risk5.toLocaleString('en')}</td>
                <td class="num">{risk4.toLocaleString('en')}</td>
                <td class="num">
                  <a class="over" href={eventsIn(span, { [which]: id, risk: '4' })}>
                    {(risk4 + risk5).toLocaleString('en')}
                    <span class="sr-only"> events of {name}</span>
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
};

const Nothing = ({ span }: { span: Span }) => (
  <Empty icon="shield-check" title="None">
    None in the last {span.days} days.
  </Empty>
);

/** "+3", "−2" or "0". */
export const signed = (value: number): string =>
  value === 0 ? '0' : `${value > 0 ? '+' : '−'}${Math.abs(value).toLocaleString('en')}`;

const percentOf = (part: number, whole: number): number => Math.round((1000 * part) / whole) / 10;
