import type { Connection } from '../../../core/fleet/connections.ts';
import { capital } from '../../../core/platform/text.ts';
import { percent } from '../../../texts/words.ts';
import type { ConnectionHealth } from '../../../ui/added.ts';
import { adviceFor, type FeedName } from '../connector/connector.ts';
import { connectorOf } from '../registry.ts';
import type { PullSummary } from '../status.ts';

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

const quiet = { mood: 'quiet', urgency: 0 } as const;

/** The health of a connection that is pulled; `health` is what its status alone says. */
export function healthOfPull(
  pull: PullSummary,
  { healthStatus }: Connection,
  health: ConnectionHealth,
): ConnectionHealth {
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
      note: `${names ? `Late or missing: ${names}.` : health.note} ${advice}`.trim(),
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
