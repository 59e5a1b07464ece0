import type { Connection } from '../../fleet/connections.ts';
import type { FeedName } from '../../providers/connector.ts';
import { adviceFor } from '../../providers/problem.ts';
import { connectorOf } from '../../providers/registry.ts';
import type { PullSummary } from '../../providers/status.ts';
import { capital, percent } from '../ui/format.ts';
import type { IconName } from '../ui/icon-names.ts';
import { type Mood, State } from '../ui/states.tsx';

/** A connection's health in words. A problem has a note; the most urgent has the highest `urgency`. */
export type ConnectionHealth = { mood: Mood; word: string; urgency: number; note?: string; icon?: IconName };

/** The health of a connection; `pull` is the state of its pull, if it has one. */
export const healthOf = (connection: Connection, pull: PullSummary | undefined): ConnectionHealth =>
  pull ? healthOfPull(connection, pull) : givenHealth(connection.healthStatus);

export const Health = ({ health: { mood, word, icon } }: { health: ConnectionHealth }) => (
  <State mood={mood} {...(icon && { icon })}>
    {word}
  </State>
);

export const feedWords: { [name in FeedName]: string } = {
  vehicles: 'Vehicles',
  drivers: 'Drivers',
  trips: 'Trips',
  events: 'Safety events and accidents',
};

/** The provider's name for its credential, such as "API token", if it is short enough for buttons. */
export function credentialLabel({ provider }: Pick<PullSummary, 'provider'>): string {
  const label = connectorOf(provider)?.credential.label;
  return label !== undefined && label.length <= longestLabel ? label : 'credential';
}

const longestLabel = 16;

/** The account's view of a health status that an operator has set. */
export const givenHealth = (status: number): ConnectionHealth =>
  givenHealths[status] ?? { mood: 'quiet', word: 'Unknown', urgency: 0 };

const someIsMissing = 'Some data is late or missing.';
const givenHealths: { [status: number]: ConnectionHealth } = {
  1: { mood: 'ok', word: 'Healthy', urgency: 0 },
  2: { mood: 'warn', word: 'Warning', urgency: 1, note: 'Data arrives, but something needs attention.' },
  3: { mood: 'bad', word: 'Unavailable', urgency: 3, note: 'No data arrives.' },
  4: { mood: 'warn', word: 'Degraded', urgency: 2, note: someIsMissing },
};

function healthOfPull({ healthStatus }: Connection, pull: PullSummary): ConnectionHealth {
  const { state, feeds } = pull;
  if (state === 'paused')
    return {
      mood: 'quiet',
      word: 'Paused',
      icon: 'pause',
      urgency: 0,
      note: 'Nothing is pulled until you resume it.',
    };
  if (state === 'withdrawn')
    return {
      mood: 'quiet',
      word: 'Consent withdrawn',
      urgency: 0,
      note: 'Nothing more is pulled. What you have received stays until you remove this connection.',
    };
  if (state === 'refused')
    return {
      mood: 'bad',
      word: `${capital(credentialLabel(pull))} refused`,
      urgency: 3,
      note: refusedAdvice(pull),
    };
  const failing = feeds.filter(({ problem }) => problem?.isFailing);
  const advice = [...new Set(failing.map(({ problem }) => problem?.advice ?? ''))];
  if (healthStatus === 3)
    return { ...givenHealth(3), note: ['Nothing could be pulled for a day.', ...advice].join(' ') };
  if (healthStatus === 4) {
    const names = failing.map(({ feed }) => feedWords[feed].toLowerCase());
    const missing = names.length > 0 ? `Late or missing: ${names.join(', ')}.` : someIsMissing;
    return { ...givenHealth(4), note: [missing, ...advice].join(' ') };
  }
  if (healthStatus === 2)
    return {
      ...givenHealth(2),
      word: 'Late',
      note: advice.join(' ') || 'Nothing could be pulled for some minutes. We will keep trying.',
    };
  const loaded = feeds.flatMap(({ history }) => history?.share ?? []);
  if (loaded.every((share) => share >= 1)) return givenHealth(1);
  const share = loaded.reduce((sum, one) => sum + one, 0) / loaded.length;
  return {
    mood: 'quiet',
    word: 'Loading history',
    icon: 'loader',
    urgency: 0,
    note: `${percent(share)} of ${pull.historyDays} days.`,
  };
}

/** What to do when the provider refuses the credential. */
function refusedAdvice({ provider }: PullSummary): string {
  const connector = connectorOf(provider);
  const advice = connector ? adviceFor(connector, { kind: 'refused', message: '' }) : '';
  return `${advice} Nothing is lost: what has happened since is pulled once it works.`.trim();
}
