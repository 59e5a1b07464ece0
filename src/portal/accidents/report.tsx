import type { Caller } from '../../core/platform/db/guard.ts';
import { by, type Context, seeOther } from '../../core/platform/http/context.ts';
import { added, type OpenReport } from '../../ui/added.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { accidentPath, reportPath, requireAccident } from '../../ui/lists/records.tsx';
import { Panel, State } from '../../ui/parts.tsx';
import type { Accident } from '../../ui/read/named-lists.ts';
import { done } from '../../ui/submit.ts';

/** Opens the report at the provider. */
export async function openReport(c: Context) {
  const accident = await requireAccident(c);
  const [find = asSent] = added(c, 'report');
  const report = await find(...by(c), accident);
  return 'link' in report
    ? seeOther(c, report.link)
    : done(c, accidentPath(accident), report.missing, 'warn');
}

const asSent = async (_env: Env, _caller: Caller, { reportUrl }: Accident): Promise<OpenReport> =>
  reportUrl ? { link: reportUrl } : { missing: 'There is no report.' };

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
