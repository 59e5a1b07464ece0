import { by, type Context } from '../../../core/platform/http/context.ts';
import type { OnRecord, ShownRecord } from '../../../ui/added.ts';
import { PostButton } from '../../../ui/buttons.tsx';
import { Live, Note } from '../../../ui/parts.tsx';
import { isCoveredOf, uncovered } from '../coverage.ts';

/** The warning that nobody is notified of its accidents, and a button against it. */
export const NobodyNotified = ({ ends }: { ends?: string }) => (
  <Note mood="warn" side={ends && <PostButton to={ends} name="Do not warn again" small />}>
    {uncovered} Add it to a <a href="/portal/webhooks">webhook</a>, or choose{' '}
    <a href="/portal/settings/notifications">notifications</a>.
  </Note>
);

/** The warning on the page of an accident. */
export async function onRecord(c: Context, { id, accident }: ShownRecord): Promise<OnRecord> {
  if (!accident) return {};
  const isCovered = await isCoveredOf(...by(c), id);
  return {
    above: (
      <Live id="covered-now">
        {!isCovered && !accident.dismissed && !accident.closed && <NobodyNotified />}
      </Live>
    ),
  };
}
