import type { Connection } from '../../core/fleet/connections.ts';
import type { ConnectionHealth, Pulled } from '../../ui/added.ts';
import { State } from '../../ui/parts.tsx';

export const Health = ({ health: { mood, word, icon } }: { health: ConnectionHealth }) => (
  <State mood={mood} {...(icon && { icon })}>
    {word}
  </State>
);

/** The account's view of a health status that an operator has set. */
export const givenHealth = (status: number): ConnectionHealth =>
  givenHealths[status] ?? { mood: 'quiet', word: 'Unknown', urgency: 0 };

const givenHealths: { [status: number]: ConnectionHealth } = {
  1: { mood: 'ok', word: 'Healthy', urgency: 0 },
  2: {
    mood: 'warn',
    word: 'Warning',
    urgency: 1,
    note: 'Data arrives, but something needs attention.',
  },
  3: { mood: 'bad', word: 'Unavailable', urgency: 3, note: 'No data arrives.' },
  4: { mood: 'warn', word: 'Degraded', urgency: 2, note: 'Some data is late or missing.' },
};

const waiting: ConnectionHealth = {
  ...{ mood: 'quiet', urgency: 0 },
  ...{ word: 'Waiting for first data', icon: 'clock' },
};

/** The health of a connection, if it is `pulled` as well; `hasData` is whether any record of it was ever received. */
export function healthOf(
  connection: Connection,
  pulled: Pulled | undefined,
  hasData: boolean,
): ConnectionHealth {
  const { healthStatus } = connection;
  const health = healthStatus === 1 && !hasData ? waiting : givenHealth(healthStatus);
  return pulled ? pulled.healthOf(connection, health) : health;
}
