import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import type { Accident } from './accident-state.tsx';

/** Where an accident's report is, or why there is none. */
export const Report = ({ accident: { reportUrl, reportReady, dismissed, tSP } }: { accident: Accident }) => (
  <Panel
    id="report"
    title="Report"
    side={
      reportUrl || reportReady ? (
        <State mood="ok">Ready</State>
      ) : (
        <State mood="quiet" icon="clock">
          {dismissed ? 'None' : 'Not yet'}
        </State>
      )
    }
  >
    {reportUrl ? (
      <ul class="rows mt-1">
        <li>
          <Icon name="file-text" />
          <div>
            <a class="cover" href={reportUrl} rel="noreferrer">
              Accident report
            </a>
            <p class="sub">Opens at {new URL(reportUrl).host}</p>
          </div>
          <Icon name="external-link" small />
        </li>
      </ul>
    ) : (
      <p class="panel-body sub">
        {reportReady
          ? `${tSP} has the report, but gave no link to it.`
          : dismissed
            ? 'There is no report of a false alarm.'
            : `${tSP} has not sent a report yet. It follows with level 3.`}
      </p>
    )}
  </Panel>
);
