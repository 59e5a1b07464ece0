import { type Context, seeOther } from '../../core/platform/http/context.ts';
import { findReport } from '../../extras/providers/report.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { Panel, State } from '../../ui/parts.tsx';
import type { Accident } from '../../ui/read/named-lists.ts';
import { accidentPath, reportPath, requireAccident } from '../../ui/records.tsx';
import { done } from '../../ui/submit.ts';

/** Opens the report at the provider. */
export async function openReport(c: Context) {
  const accident = await requireAccident(c);
  const report = await findReport(c.env, c.get('caller'), accident);
  return 'link' in report
    ? seeOther(c, report.link)
    : done(c, accidentPath(accident), report.missing, 'warn');
}

/** Where an accident's report is, or why there is none. */
export const Report = ({ accident }: { accident: Accident }) => {
  const { reportUrl, reportReady, dismissed, tSP } = accident;
  const missing = dismissed
    ? 'False alarms have no report.'
    : `${tSP} has not sent a report yet. It arrives with level 3.`;
  return (
    <Panel
      title="Report"
      body
      live
      side={reportReady ? <State mood="ok">Ready</State> : <State mood="quiet">Not yet</State>}
    >
      {reportUrl ? (
        <>
          <a href={reportPath(accident)} rel="noreferrer">
            Accident report
          </a>{' '}
          <span class="sub">
            Opens at <Breakable text={new URL(reportUrl).host} />
          </span>
        </>
      ) : (
        <p class="sub">{reportReady ? `${tSP} has the report, but provides no link.` : missing}</p>
      )}
    </Panel>
  );
};
