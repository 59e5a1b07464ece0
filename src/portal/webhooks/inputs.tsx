import { useContext } from 'hono/jsx';
import {
  type Connection,
  connectionName,
  maxConnectionsListed,
} from '../../core/fleet/connections.ts';
import { capital } from '../../core/platform/text.ts';
import { ACCIDENT, EVENT } from '../../core/webhooks/notifications/types.ts';
import { WebhookLabels } from '../../core/webhooks/schema.ts';
import { boxes, choice, line, numbers, Trimmed } from '../../ui/forms/form-fields.tsx';
import { Choices, offered } from '../../ui/forms/forms.tsx';
import { pairs } from '../../ui/forms/pairs.tsx';
import { FilledForm } from '../../ui/submit.ts';

/** For the account's own people. */
export const labels = {
  name: line('Name', WebhookLabels.entries.name, 'For your team. Receivers do not see it.'),
  description: line(
    'Description',
    WebhookLabels.entries.description,
    'Optional: who runs the receiver, what it is for.',
  ),
};

export const address = {
  httpVerb: choice('Method', offered(['POST', 'PUT'])),
  url: line('URL', Trimmed, { type: 'url', required: true }),
};

const accidents =
  'One delivery for each level: first detection, verified, report ready. Needed for claims.';
const events = 'Harsh braking, speeding, phone usage and more, with a risk from 1 to 5.';

/** Sent as they are, like the address, but each as wide as the form. */
export const wide = {
  notificationTypes: numbers(
    boxes(
      'What to send',
      [
        [String(ACCIDENT), 'Accidents', accidents],
        [String(EVENT), 'Safety events', events],
      ],
      { columns: undefined },
    ),
  ),
};

const all = 'All connections, including new ones';
const joins = 'New connections are included automatically.';

export const connections = (known: Connection[] = []) => ({
  allConnections: boxes('Connections', [['true', all, joins]], {
    columns: undefined,
    look: 'form-section',
  }),
  connectionIds: {
    ...boxes('Only these connections', []),
    draw: (_: string, stored: unknown) => (
      <Connections known={known} stored={stored as string[] | undefined} /> // as a webhook has them
    ),
  },
});

const anyone = 'anyone who knows the URL can pretend to be us';

/** The headers. Names that are `kept` need no value. `unless` says how else receivers can verify calls. */
export const headers = (kept: string[] = [], unless: string[] = []) => ({
  headers: pairs('Header', 'header', {
    legend: 'Headers',
    hint:
      `Sent with every delivery. ${capital([...unless, anyone].join(', '))}: send a secret, and have your receiver ` +
      'refuse requests without it. Values are stored encrypted. To remove a header, empty its name.',
    kept,
  }),
});

/** The connections to choose from. Those that are chosen and not listed stay so. */
const Connections = ({ known, stored }: { known: Connection[]; stored: string[] | undefined }) => {
  const listed = known.map(({ id }) => id);
  const chosen = useContext(FilledForm)?.values('connectionIds') ?? stored ?? listed;
  const isCut = listed.length === maxConnectionsListed;
  return (
    <>
      {chosen
        .filter((id) => !listed.includes(id))
        .map((id) => (
          <input type="hidden" name="connectionIds" value={id} />
        ))}
      <Choices
        name="connectionIds"
        legend="Only these connections"
        columns={2}
        look="form-section"
        chosen={chosen}
        options={known.map((connection) => [
          connection.id,
          connectionName(connection),
          connection.tsp,
        ])}
        hint={
          listed.length === 0
            ? 'There are no connections yet, so nothing would be sent.'
            : isCut &&
              'Only the first 1,000 connections are listed. Saving leaves the others as they are.'
        }
      />
    </>
  );
};
