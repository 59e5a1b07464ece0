import type { Child } from 'hono/jsx';
import { EventState } from '../parts.tsx';
import { Time } from '../time.tsx';
import { eventPath } from './records.tsx';

/** `types` are incident types as JSON. */
export type LatestEvent = {
  id: string;
  risk: number;
  withdrawn: unknown;
  types: string;
  vehicleName: string | null;
  tsp?: string;
  startedAt: number;
  address?: string | null;
};

/** Safety events in rows, each with its time. */
export const LatestEvents = ({
  events,
  withProvider = false,
}: {
  events: LatestEvent[];
  withProvider?: boolean;
}) => (
  <ul class={`rows${withProvider ? ' mt-2' : ' border-t border-line'}`}>
    {events.map(({ id, risk, withdrawn, types, vehicleName, tsp, startedAt, address }) => (
      <Row
        mark={<EventState eventRisk={risk} withdrawn={withdrawn} named={false} />}
        at={startedAt}
      >
        <a class="cover" href={eventPath({ id, startedAt })}>
          {namesIn(types).join(', ')}
        </a>{' '}
        <span class="sub">
          {[vehicleName, ...(withProvider ? [address, tsp] : [])].filter(Boolean).join(' · ')}
        </span>
      </Row>
    ))}
  </ul>
);

export const Row = (props: { stacked?: boolean; mark: Child; at: number; children: Child }) => (
  <li class={props.stacked ? 'row-stacked' : undefined}>
    {props.mark}
    <div class="min-w-0">{props.children}</div>
    <span class="when">
      <Time at={props.at} />
    </span>
  </li>
);

const namesIn = (types: string): string[] => JSON.parse(types); // as D1 keeps them
