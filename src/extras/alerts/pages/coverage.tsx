import {
  type Connection,
  findConnection,
  updateConnection,
} from '../../../core/fleet/connections.ts';
import { by, type Context, inPath } from '../../../core/platform/http/context.ts';
import type { OnConnection, OnRecord, Pulled, ShownRecord } from '../../../ui/added.ts';
import { PostButton, Submit } from '../../../ui/buttons.tsx';
import { Form } from '../../../ui/forms/forms.tsx';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { Live, Note } from '../../../ui/parts.tsx';
import { done, readForm } from '../../../ui/submit.ts';
import { isAccidentCovered, isConnectionCovered, uncovered } from '../coverage.ts';

/** The warning on the page of a connection, or that it is turned off. */
export async function onConnection(
  c: Context,
  connection: Connection,
  pulled: Pulled | undefined,
): Promise<OnConnection> {
  const isCovered = await isConnectionCovered(...by(c), connection.id);
  const path = `${connectionPath(connection)}/warning`;
  return {
    problem: !isCovered && !pulled?.isStopped && <NobodyNotified ends={path} />,
    lastFacts: [
      [
        'Accidents',
        connection.notifiesNobody && (
          <Form to={path}>
            <p>No warning if nobody is notified</p>
            <Submit name="Warn again" does="warn" weight="plain" small />
          </Form>
        ),
      ],
    ],
  };
}

/** Ends the warning that nobody is notified of its accidents, or brings it back. */
export async function setWarning(c: Context) {
  const { id } = await inPath(c, findConnection);
  const notifiesNobody = (await readForm(c)).value('do') !== 'warn';
  const connection = await updateConnection(...by(c), id, { notifiesNobody });
  const said = notifiesNobody ? 'The warning is turned off.' : 'The warning is turned on.';
  return done(c, connectionPath(connection), said);
}

/** The warning that nobody is notified of its accidents, and a button against it. */
const NobodyNotified = ({ ends }: { ends?: string }) => (
  <Note mood="warn" side={ends && <PostButton to={ends} name="Do not warn again" small />}>
    {uncovered} Add it to a <a href="/portal/webhooks">webhook</a>, or choose{' '}
    <a href="/portal/settings/notifications">notifications</a>.
  </Note>
);

/** The warning on the page of an accident. */
export async function onRecord(c: Context, { id, accident }: ShownRecord): Promise<OnRecord> {
  if (!accident) return {};
  const isCovered = await isAccidentCovered(...by(c), id);
  return {
    above: (
      <Live id="covered-now">
        {!isCovered && !accident.dismissed && !accident.closed && <NobodyNotified />}
      </Live>
    ),
  };
}
