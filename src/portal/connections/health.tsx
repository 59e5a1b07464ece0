import type { Connection } from '../../core/fleet/connections.ts';
import { capital } from '../../core/platform/text.ts';
import { adviceFor, type FeedName } from '../../extras/providers/connector.ts';
import { connectorOf } from '../../extras/providers/registry.ts';
import type { PullSummary } from '../../extras/providers/status.ts';
import { percent } from '../../texts/words.ts';
import type { IconName } from '../../ui/icon-names.ts';
import { type Mood, State } from '../../ui/parts.tsx';

/** A connection's health in words. A problem has a note; the most urgent has the highest `urgency`. */
export type ConnectionHealth = {
  mood: Mood;
  word: string;
  urgency: number;
  note?: string;
  icon?: IconName;
};

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
  2: {
    mood: 'warn',
    word: 'Warning',
    urgency: 1,
    note: 'Data arrives, but something needs attention.',
  },
  3: { mood: 'bad', word: 'Unavailable', urgency: 3, note: 'No data arrives.' },
  4: { mood: 'warn', word: 'Degraded', urgency: 2, note: someIsMissing },
};

const quiet = { mood: 'quiet', urgency: 0 } as const;
const waiting: ConnectionHealth = { ...quiet, word: 'Waiting for first data', icon: 'clock' };

/**
 * The health of a connection; `pull` is the state of its pull, if it has one, and `hasData` whether any record of it was
 * ever received.
 */
export function healthOf(
  { healthStatus }: Connection,
  pull: PullSummary | undefined,
  hasData: boolean,
): ConnectionHealth {
  const health = healthStatus === 1 && !hasData ? waiting : givenHealth(healthStatus);
  if (!pull) return health;
  const { state, feeds, historyDays } = pull;
  if (state === 'paused')
    return {
      ...quiet,
      word: 'Paused',
      icon: 'pause',
      note: 'Nothing is pulled until you resume it.',
    };
  if (state === 'withdrawn') {
    const note =
      'Nothing more is pulled. What you have received stays until you remove this connection.';
    return { ...quiet, word: 'Consent withdrawn', note };
  }
  if (state === 'refused') {
    const word = `${capital(credentialLabel(pull))} refused`;
    return { mood: 'bad', urgency: 3, word, note: refusedAdvice(pull) };
  }
  const failing = feeds.filter(({ problem }) => problem?.isFailing);
  const advice = [...new Set(failing.map(({ problem }) => problem?.advice ?? ''))].join(' ');
  if (healthStatus === 3)
    return { ...health, note: `Nothing could be pulled for a day. ${advice}`.trim() };
  if (healthStatus === 4) {
    const names = failing.map(({ feed }) => feedWords[feed].toLowerCase()).join(', ');
    return {
      ...health,
      note: `${names ? `Late or missing: ${names}.` : someIsMissing} ${advice}`.trim(),
    };
  }
  if (healthStatus === 2) {
    const note = advice || 'Nothing could be pulled for a few minutes. We will keep trying.';
    return { ...health, word: 'Late', note };
  }
  const loaded = feeds.flatMap(({ history }) => history?.share ?? []);
  if (loaded.every((share) => share >= 1)) return health;
  const share = loaded.reduce((sum, one) => sum + one, 0) / loaded.length;
  const note = `${percent(share)} of ${historyDays} days.`;
  return { ...quiet, word: 'Loading history', icon: 'loader', note };
}

function refusedAdvice({ provider }: PullSummary): string {
  const connector = connectorOf(provider);
  const advice = connector ? adviceFor(connector, { kind: 'refused', message: '' }) : '';
  return `${advice} Nothing is lost: what has happened since is pulled once it works.`.trim();
}
